/* Winsock has sockets in another way: addresses alone. */
#include <netinet/in.h>
