#pragma once
// simdjson's DOM parser behind a C interface: Swift cannot import its C++ templates without turning on
// C++ interoperability for every target that imports this one.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The deepest nesting of arrays and objects that is parsed. An empty container one level deeper gets through.
#define CSIMDJSON_MAX_DEPTH 160

/// simdjson's `error_code`s, joined where they mean the same to the sender.
typedef enum csimdjson_error {
  CSIMDJSON_OK = 0,
  CSIMDJSON_EMPTY,
  CSIMDJSON_NOT_UTF8,
  CSIMDJSON_BYTE_ORDER_MARK,
  CSIMDJSON_TOO_DEEP,
  CSIMDJSON_BAD_STRING,
  CSIMDJSON_UNCLOSED_STRING,
  CSIMDJSON_CONTROL_CHARACTER,
  CSIMDJSON_BAD_LITERAL,
  CSIMDJSON_BAD_NUMBER,
  CSIMDJSON_BAD_STRUCTURE,
  CSIMDJSON_TOO_LARGE,
  CSIMDJSON_NO_MEMORY,
} csimdjson_error;

/// A parsed document, as simdjson's doc/tape.md describes it, and the bytes that it was made from. The pointers are good
/// until csimdjson_done, on the same thread, whatever is parsed meanwhile.
typedef struct csimdjson_document {
  const uint64_t *tape;
  const uint8_t *strings;
  const uint8_t *source;
  size_t length;
  /// Null where nothing was parsed.
  void *parser;
  csimdjson_error error;
} csimdjson_document;

/// Parses with a parser that belongs to the calling thread. A number that JSON allows and no machine type holds
/// stands on the tape as the double zero: its digits are in the source.
const csimdjson_document *csimdjson_parse(const uint8_t *bytes, size_t length);

/// Writes into the payload of each number on the tape where in the source it begins: the tape alone loses the
/// digits of doubles and the sign of `-0`.
void csimdjson_locate_numbers(const csimdjson_document *document);

/// To be called when a document has been read, also after an error: its parser may parse the next, and the memory is
/// freed that a large message made it take.
void csimdjson_done(const csimdjson_document *document);

#ifdef __cplusplus
}
#endif
