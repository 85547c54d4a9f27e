#include "cwaybuild.h"

const char *way_build_commit(void) { return WAYBRIDGE_COMMIT; }
