/* LoadLibrary, as dlopen(3). */
#ifndef TRK_POSIX_DLFCN_H
#define TRK_POSIX_DLFCN_H

void *dlsym(void *library, const char *name);
int dlclose(void *library);
char *dlerror(void);

#endif
