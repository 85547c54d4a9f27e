#pragma once
#include <libwebsockets.h>
#include <stdint.h>

/* Swift cannot import these macros and enumerators: they are expressions or casts. */
static const int way_lws_pre = LWS_PRE;
static const int way_lws_write_raw = LWS_WRITE_RAW;
static const uint64_t way_lws_option_libuv = LWS_SERVER_OPTION_LIBUV;
static const uint64_t way_lws_option_explicit_vhosts = LWS_SERVER_OPTION_EXPLICIT_VHOSTS;
static const int way_lws_no_listen = CONTEXT_PORT_NO_LISTEN;
static const int way_lws_no_listen_server = CONTEXT_PORT_NO_LISTEN_SERVER;
static const int way_lws_no_follow_redirect = LCCSCF_HTTP_NO_FOLLOW_REDIRECT;
static const uint64_t way_lws_option_raw_origin = LWS_SERVER_OPTION_JUST_USE_RAW_ORIGIN;
