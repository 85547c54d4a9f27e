#pragma once

/* The commit that the package was built from; empty where the build was not told. */
const char *_Nonnull way_build_commit(void);
