/* A bare server on libwebsockets and libuv, for comparison: lws_gathered PORT
 * Like lws.c, but it treats each piece of a message as a whole message, and collects the responses of a turn of the loop, so
 * that it writes to a connection once a turn: about the minimum that these libraries need. */
#define _GNU_SOURCE
#include <uv.h>

#include <libwebsockets.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reply.h"

#define CAPACITY 65536
struct peer {
	struct lws *wsi;
	struct peer *next;
	int is_dirty, length;
	unsigned char out[LWS_PRE + CAPACITY];
};
static struct peer *dirty;  /* those that have something to send at the end of the turn */

static void flush(struct peer *p) {
	if (!p->length) return;
	if (lws_partial_buffered(p->wsi)) { lws_callback_on_writable(p->wsi); return; }
	lws_write(p->wsi, p->out + LWS_PRE, p->length, LWS_WRITE_RAW);
	p->length = 0;
}
static void answer(struct peer *p, const char *text, size_t length) {
	char out[160];
	int n = reply(out, text, length);
	if (p->length + 2 + n > CAPACITY) return;  /* who does not read gets no more */
	unsigned char *frame = p->out + LWS_PRE + p->length;  /* n < 126 */
	frame[0] = 0x81;
	frame[1] = n;
	memcpy(frame + 2, out, n);
	p->length += 2 + n;
	if (!p->is_dirty) { p->is_dirty = 1; p->next = dirty; dirty = p; }
	if (p->length > CAPACITY - 4096) flush(p);
}
static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
	struct peer *p = user;
	switch (reason) {
	case LWS_CALLBACK_ESTABLISHED: memset(p, 0, sizeof *p); p->wsi = wsi; break;
	case LWS_CALLBACK_RECEIVE: answer(p, in, length); break;
	case LWS_CALLBACK_SERVER_WRITEABLE: flush(p); break;
	case LWS_CALLBACK_CLOSED:
		for (struct peer **q = &dirty; *q; q = &(*q)->next) if (*q == p) { *q = p->next; break; }
		break;
	default: break;
	}
	return 0;
}
static void end_turn(uv_check_t *check) {
	(void)check;
	while (dirty) {
		struct peer *p = dirty;
		dirty = p->next;
		p->is_dirty = 0;
		flush(p);
	}
}
static const struct lws_protocols protocols[] = {
	{ "bridge", callback, sizeof(struct peer), 65536, 0, NULL, 0 },
	{ NULL, NULL, 0, 0, 0, NULL, 0 } };

int main(int count, char **arguments) {
	struct lws_context_creation_info info;
	memset(&info, 0, sizeof info);
	if (count != 2) { fprintf(stderr, "usage: lws_gathered PORT\n"); return 64; }
	uv_loop_t *loop = uv_default_loop();
	void *loops[1] = { loop };
	info.port = atoi(arguments[1]);
	info.iface = "127.0.0.1";
	info.protocols = protocols;
	info.options = LWS_SERVER_OPTION_LIBUV;
	info.pt_serv_buf_size = 65536;
	info.foreign_loops = loops;
	lws_set_log_level(LLL_ERR, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (!lws_create_context(&info)) return 1;
	uv_check_t check;
	uv_check_init(loop, &check);
	uv_check_start(&check, end_turn);
	return uv_run(loop, UV_RUN_DEFAULT);
}
