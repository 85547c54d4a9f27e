#pragma once
#include <stddef.h>

/* A file of the JavaScript client or of the inspector, as part of the program. */
struct web_client_file {
  /* Its path below web. */
  const char *_Nonnull name;
  const unsigned char *_Nonnull bytes;
  size_t size;
};

const struct web_client_file *_Nonnull web_client_files(void);
size_t web_client_file_count(void);
