/* A bare server on libwebsockets, for comparison: lws PORT
 * One service thread. It looks for "id":N in each message and sends a fixed result of about 100 bytes, one write per
 * frame. */
#define _GNU_SOURCE
#include <libwebsockets.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reply.h"

struct message { struct message *next; size_t length; unsigned char bytes[]; };
struct peer {
	struct message *first, **end;                  /* what waits to be sent */
	unsigned char *text; size_t length, capacity;  /* what has come of a message */
};
static int has_to_stop;
static struct lws_context *context;

static void stop(int number) {
	(void)number;
	has_to_stop = 1;
	if (context) lws_cancel_service(context);
}
static void answer(struct peer *p) {
	char out[160];
	int n = reply(out, (const char *)p->text, p->length);
	struct message *m = malloc(sizeof *m + LWS_PRE + n);
	m->next = NULL;
	m->length = n;
	memcpy(m->bytes + LWS_PRE, out, n);
	*p->end = m;
	p->end = &m->next;
}
static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length) {
	struct peer *p = user;
	switch (reason) {
	case LWS_CALLBACK_ESTABLISHED:
		memset(p, 0, sizeof *p);
		p->end = &p->first;
		break;
	case LWS_CALLBACK_CLOSED:
		for (struct message *m = p->first, *next; m; m = next) { next = m->next; free(m); }
		free(p->text);
		memset(p, 0, sizeof *p);
		break;
	case LWS_CALLBACK_RECEIVE:
		if (lws_is_first_fragment(wsi)) p->length = 0;
		if (p->length + length + 1 > p->capacity) {
			size_t capacity = p->capacity ? p->capacity : 256;
			while (capacity < p->length + length + 1) capacity *= 2;
			p->text = realloc(p->text, capacity);
			p->capacity = capacity;
		}
		memcpy(p->text + p->length, in, length);
		p->length += length;
		p->text[p->length] = 0;
		if (lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi)) {
			answer(p);
			lws_callback_on_writable(wsi);
		}
		break;
	case LWS_CALLBACK_SERVER_WRITEABLE:
		while (p->first && !lws_send_pipe_choked(wsi)) {
			struct message *m = p->first;
			if (lws_write(wsi, m->bytes + LWS_PRE, m->length, LWS_WRITE_TEXT) < 0) return -1;
			p->first = m->next;
			if (!p->first) p->end = &p->first;
			free(m);
		}
		if (p->first) lws_callback_on_writable(wsi);
		break;
	default: break;
	}
	return 0;
}
static const struct lws_protocols protocols[] = {
	{ "bridge", callback, sizeof(struct peer), 65536, 0, NULL, 0 },
	{ NULL, NULL, 0, 0, 0, NULL, 0 } };

int main(int count, char **arguments) {
	struct lws_context_creation_info info;
	memset(&info, 0, sizeof info);
	if (count != 2) { fprintf(stderr, "usage: lws PORT\n"); return 64; }
	info.port = atoi(arguments[1]);
	info.iface = "127.0.0.1";
	info.protocols = protocols;
	info.options = LWS_SERVER_OPTION_VALIDATE_UTF8;
	info.pt_serv_buf_size = 65536;
	lws_set_log_level(LLL_ERR, NULL);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	signal(SIGPIPE, SIG_IGN);
	context = lws_create_context(&info);
	if (!context) return 1;
	while (!has_to_stop && lws_service(context, 0) >= 0) ;
	lws_context_destroy(context);
	return 0;
}
