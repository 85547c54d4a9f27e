#pragma once
#include <libwebsockets.h>

/* Swift cannot import these macros: they are expressions or casts. */
static const int way_lws_pre = LWS_PRE;
static const int way_lws_write_raw = LWS_WRITE_RAW;
