/* What every tick calls stands together in the program: after a second in which others ran, its code is in
 * no cache, and each page that it is spread over costs a walk of the page tables as well. */
#ifndef TRK_BASE_HOT_H
#define TRK_BASE_HOT_H

#define TRK_HOT __attribute__((hot))

#endif
