/* Lets the i-th call on files of one folder fail, as a disk would: loaded before libc into a child of these tests.
   Only calls on that folder are counted, and only while a failure is armed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { EIO_ONCE = 1, EIO_LASTING, FULL, SHORT_THEN_FULL, KILLED, TORN };

static char folder[4096];
static long count, at;
static int mode, fired;

void faults_arm(const char *where, long number, int how) {
    snprintf(folder, sizeof folder, "%s", where);
    count = 0, fired = 0, mode = how, at = number;
}

int faults_disarm(void) {
    at = 0;
    return fired;
}

static int ours(const char *path) { return strncmp(path, folder, strlen(folder)) == 0; }

static int ours_fd(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t got = readlink(link, path, sizeof path - 1);
    if (got < 0) return 0;
    path[got] = 0;
    return ours(path);
}

/* What a call is to do: 0 as always, else fail with this error; -1 half of it, and then be killed or go on. */
static int verdict(int writes) {
    count++;
    if (mode == FULL || mode == SHORT_THEN_FULL) {
        if (!writes || count < at) return 0;
        int first = !fired;
        fired = 1;
        return mode == SHORT_THEN_FULL && first ? -1 : ENOSPC;
    }
    if (count < at || (count > at && mode != EIO_LASTING)) return 0;
    fired = 1;
    if (mode == KILLED) kill(getpid(), SIGKILL);
    return mode == TORN ? -1 : EIO;
}

#define REAL(name) static __typeof__(name) *real; if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define DIES() do { if (mode == TORN) kill(getpid(), SIGKILL); } while (0)
#define CALL(mine, writes, call) do { \
        int said = at && (mine) ? verdict(writes) : 0; \
        if (said > 0) { errno = said; return -1; } \
        __typeof__(call) result = call; \
        if (said < 0) DIES(); \
        return result; \
    } while (0)
#define WRITE(fd, half, all) do { \
        int said = at && ours_fd(fd) ? verdict(1) : 0; \
        if (said > 0) { errno = said; return -1; } \
        if (said == 0) return all; \
        ssize_t result = half; \
        DIES(); \
        return result; \
    } while (0)

ssize_t write(int fd, const void *from, size_t size) {
    REAL(write);
    WRITE(fd, real(fd, from, (size + 1) / 2), real(fd, from, size));
}
ssize_t pwrite(int fd, const void *from, size_t size, off_t where) {
    REAL(pwrite);
    WRITE(fd, real(fd, from, (size + 1) / 2, where), real(fd, from, size, where));
}
ssize_t pwrite64(int fd, const void *from, size_t size, off64_t where) {
    REAL(pwrite64);
    WRITE(fd, real(fd, from, (size + 1) / 2, where), real(fd, from, size, where));
}
ssize_t read(int fd, void *to, size_t size) { REAL(read); CALL(ours_fd(fd), 0, real(fd, to, size)); }
ssize_t pread(int fd, void *to, size_t size, off_t where) {
    REAL(pread);
    CALL(ours_fd(fd), 0, real(fd, to, size, where));
}
ssize_t pread64(int fd, void *to, size_t size, off64_t where) {
    REAL(pread64);
    CALL(ours_fd(fd), 0, real(fd, to, size, where));
}
int fsync(int fd) { REAL(fsync); CALL(ours_fd(fd), 0, real(fd)); }
int fdatasync(int fd) { REAL(fdatasync); CALL(ours_fd(fd), 0, real(fd)); }
int ftruncate(int fd, off_t size) { REAL(ftruncate); CALL(ours_fd(fd), 0, real(fd, size)); }
int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); CALL(ours_fd(fd), 0, real(fd, size)); }
int fallocate(int fd, int how, off_t from, off_t size) { REAL(fallocate); CALL(ours_fd(fd), 1, real(fd, how, from, size)); }
int unlink(const char *path) { REAL(unlink); CALL(ours(path), 0, real(path)); }
int link(const char *from, const char *to) { REAL(link); CALL(ours(to), 1, real(from, to)); }
int linkat(int a, const char *from, int b, const char *to, int how) {
    REAL(linkat);
    CALL(ours(to), 1, real(a, from, b, to, how));
}
int mkdir(const char *path, mode_t rights) {
    static int (*real)(const char *, mode_t);
    if (!real) real = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
    CALL(ours(path), 1, real(path, rights));
}

static mode_t rights(int how, va_list more) { return how & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; }
int open(const char *path, int how, ...) {
    REAL(open);
    va_list more;
    va_start(more, how);
    mode_t allowed = rights(how, more);
    va_end(more);
    CALL(ours(path), (how & O_CREAT) != 0, real(path, how, allowed));
}
int open64(const char *path, int how, ...) {
    REAL(open64);
    va_list more;
    va_start(more, how);
    mode_t allowed = rights(how, more);
    va_end(more);
    CALL(ours(path), (how & O_CREAT) != 0, real(path, how, allowed));
}

static void *mapped(int fd) {
    int said = at && fd >= 0 && ours_fd(fd) ? verdict(0) : 0;
    if (said < 0) DIES();
    if (said > 0) errno = said;
    return said > 0 ? MAP_FAILED : NULL;
}
void *mmap(void *to, size_t size, int rights, int how, int fd, off_t from) {
    REAL(mmap);
    return mapped(fd) ? MAP_FAILED : real(to, size, rights, how, fd, from);
}
void *mmap64(void *to, size_t size, int rights, int how, int fd, off64_t from) {
    REAL(mmap64);
    return mapped(fd) ? MAP_FAILED : real(to, size, rights, how, fd, from);
}
