/* The C library for macOS and Windows only reads recordings. */
#include "core.h"

int core_add_tracking(PyObject *module)
{
	return 0;
}
