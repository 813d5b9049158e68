/* Addresses only: sockets of Winsock are not descriptors. */
#include <netinet/in.h>
