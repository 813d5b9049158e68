/* A program with the memory of a CPython 3.11 whose threads share a stack. Each turn gives all frames other
 * code objects, and with ENDLESS=1 the last frame is none, so that the stack is read again. TABLE is the size
 * of the line table of each code object; SECONDS of CPU time, 0: for ever. */
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
enum { FRAMES = 255, CODES = 40000, THREADS = 16 };
#define AT(object, offset) (*(uint64_t *) ((char *) (object) + (offset)))
#define P(x)               ((uint64_t) (uintptr_t) (x))
unsigned long Py_Version = 0x030b00f0;
uint64_t _PyRuntime[64];
static char code[CODES][192], frame[FRAMES + 1][128], interpreter[512], thread[THREADS][512],
	cframe[64];
static char code_type[64], text_type[64], bytes_type[64], text[64], table[32 + TABLE];
int main(void)
{
	AT(code_type, 24) = P("code");
	AT(text_type, 24) = P("str");
	AT(bytes_type, 24) = P("bytes");
	AT(text, 8) = P(text_type);
	AT(text, 16) = 4;
	AT(text, 32) = 1 << 2 | 1 << 5 | 1 << 6;
	strcpy(text + 48, "a.py");
	AT(table, 8) = P(bytes_type);
	AT(table, 16) = TABLE;
	for (int i = 0; i < CODES; i++) {
		AT(code[i], 8) = P(code_type);
		AT(code[i], 72) = i;
		AT(code[i], 112) = AT(code[i], 128) = P(text);
		AT(code[i], 136) = P(table);
	}
	for (int i = 0; i < FRAMES; i++) {
		AT(frame[i], 32) = P(code[i]);
		AT(frame[i], 48) = i + 1 < FRAMES + ENDLESS ? P(frame[i + 1]) : 0;
		AT(frame[i], 56) = P(code[CODES]) + 184;
	}
	frame[FRAMES][69] = 100;
	AT(cframe, 8) = P(frame[0]);
	for (int i = 0; i < THREADS; i++) {
		AT(thread[i], 8) = i + 1 < THREADS ? P(thread[i + 1]) : 0;
		AT(thread[i], 16) = P(interpreter);
		AT(thread[i], 56) = P(cframe);
		AT(thread[i], 160) = getpid();
	}
	AT(interpreter, 16) = P(thread);
	_PyRuntime[5] = P(interpreter);
	for (uint64_t turn = 0; SECONDS == 0 || turn % 64 || clock() < SECONDS * CLOCKS_PER_SEC;
	     turn++)
		for (uint64_t i = 0; i < FRAMES; i++)
			*(volatile uint64_t *) &AT(frame[i], 32) =
				P(code[(turn * FRAMES + i) % CODES]);
}
