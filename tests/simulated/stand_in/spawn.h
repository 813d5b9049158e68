/* The system's spawn.h with additions of macOS: replacing the caller, and starting suspended. */
#ifndef STAND_IN_SPAWN_H
#define STAND_IN_SPAWN_H

#include_next <spawn.h>

#undef POSIX_SPAWN_SETEXEC
#define POSIX_SPAWN_SETEXEC          0x40
#define POSIX_SPAWN_START_SUSPENDED  0x80
#define posix_spawnp(pid, file, ...) stand_in_spawnp(file, __VA_ARGS__)

int stand_in_spawnp(const char *file, const posix_spawn_file_actions_t *actions,
		    const posix_spawnattr_t *attributes, char *const argv[], char *const env[]);

#endif
