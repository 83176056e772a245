/*
 * Slows a database server by a set share of its own CPU. Linked into the server's program as its first
 * library, so that recv and send of the program are these.
 *
 * A command begins with the first bytes that a thread receives after it sent an answer. Then the thread
 * burns SHARE_BP basis points of the CPU that it used since the command before began. Commands, the
 * thread's own CPU and the CPU burnt are added up in the file COUNTS_PATH, which is shared by all processes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef SHARE_BP
#error "SHARE_BP is the share to burn, in basis points of the thread's own CPU"
#endif
#ifndef COUNTS_PATH
#error "COUNTS_PATH is the file of the counts"
#endif

/* What was counted, as xtask reads it. */
struct counts {
    uint64_t commands;
    uint64_t own_ns;
    uint64_t burnt_ns;
};

/* A thread that serves a client. */
struct server_thread {
    int has_answered;
    int has_begun;
    uint64_t begun_cpu_ns;
    double debt_ns;
};

/* Less than this is owed on: a reading of the clock takes about as long. */
#define LEAST_NS 1000.0

/* Turns of the calibration, some hundred microseconds. */
#define CALIBRATION_TURNS 100000

static struct counts uncounted;
static struct counts *counts = &uncounted;
static double turns_per_ns = 1.0;
static __thread struct server_thread thread_state;

/* CPU of the calling thread. */
static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Burns CPU in user mode. */
static void turn(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; i++) {
    }
}

/* A forked process has a CPU clock of its own. */
static void forget(void)
{
    memset(&thread_state, 0, sizeof thread_state);
}

__attribute__((constructor)) static void start(void)
{
    int file = open(COUNTS_PATH, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
        void *shared = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared != MAP_FAILED)
            counts = shared;
        close(file);
    }
    uint64_t before = cpu_ns();
    turn(CALIBRATION_TURNS);
    uint64_t took = cpu_ns() - before;
    if (took > 0)
        turns_per_ns = (double)CALIBRATION_TURNS / (double)took;
    pthread_atfork(NULL, NULL, forget);
}

/* What was burnt too little or too much is owed to the next command. */
static void begin_command(void)
{
    struct server_thread *self = &thread_state;
    uint64_t now = cpu_ns();
    self->has_answered = 0;
    if (!self->has_begun) {
        self->has_begun = 1;
        self->begun_cpu_ns = now;
        return;
    }
    uint64_t own = now - self->begun_cpu_ns;
    uint64_t burnt = 0;
    self->debt_ns += (double)own * SHARE_BP / 10000.0;
    if (self->debt_ns >= LEAST_NS) {
        turn((uint64_t)(self->debt_ns * turns_per_ns));
        burnt = cpu_ns() - now;
        self->debt_ns -= (double)burnt;
    }
    self->begun_cpu_ns = now + burnt;
    __atomic_fetch_add(&counts->commands, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counts->own_ns, own, __ATOMIC_RELAXED);
    __atomic_fetch_add(&counts->burnt_ns, burnt, __ATOMIC_RELAXED);
}

ssize_t recv(int socket, void *buffer, size_t length, int flags)
{
    ssize_t received = recvfrom(socket, buffer, length, flags, NULL, NULL);
    if (received > 0 && thread_state.has_answered)
        begin_command();
    return received;
}

ssize_t send(int socket, const void *buffer, size_t length, int flags)
{
    thread_state.has_answered = 1;
    return sendto(socket, buffer, length, flags, NULL, 0);
}
