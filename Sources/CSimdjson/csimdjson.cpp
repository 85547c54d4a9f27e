#include "csimdjson.h"

#include <simdjson.h>

#include <cstring>
#include <memory>
#include <new>

namespace {

using simdjson::error_code;

// A parser of this capacity holds about 0.9 MB; one for a large message is given back when it was read.
constexpr size_t kept_capacity = 64 * 1024;
constexpr size_t largest_message = 256 * 1024 * 1024;
// simdjson refuses a value at this level, not a container.
constexpr size_t parser_depth = CSIMDJSON_MAX_DEPTH + 1;

struct Parser {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> implementation;
  simdjson::dom::document document;
  std::unique_ptr<uint8_t[]> source;
  size_t capacity = 0;
  // A document of it is being read.
  bool is_read = false;
  csimdjson_document view = {};
  // For what is parsed meanwhile.
  std::unique_ptr<Parser> inner;

  // Everything anew: simdjson's own growth leaves a half-grown parser behind when memory runs out.
  error_code grow(size_t length) noexcept {
    size_t wanted = kept_capacity;
    while (wanted < length) wanted *= 2;
    drop();
    source.reset(new (std::nothrow) uint8_t[wanted + simdjson::SIMDJSON_PADDING]);
    if (!source) return simdjson::MEMALLOC;
    if (error_code error = document.allocate(wanted)) return error;
    if (error_code error = simdjson::get_active_implementation()->create_dom_parser_implementation(
            wanted, parser_depth, implementation)) {
      return error;
    }
    capacity = wanted;
    return simdjson::SUCCESS;
  }

  void drop() noexcept {
    implementation.reset();
    document = simdjson::dom::document();
    source.reset();
    capacity = 0;
  }

  bool is_number_start(uint32_t offset) const noexcept {
    uint8_t byte = source[offset];
    return byte == '-' || (byte >= '0' && byte <= '9');
  }
};

// One of which no document is being read; null where there is no memory for it.
Parser *free_parser() noexcept {
  // The library is linked into the program, never loaded later: the plain access is enough.
  static thread_local Parser first __attribute__((tls_model("initial-exec")));
  Parser *parser = &first;
  while (parser->is_read) {
    if (!parser->inner) parser->inner.reset(new (std::nothrow) Parser);
    if (!parser->inner) return nullptr;
    parser = parser->inner.get();
  }
  return parser;
}

bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

bool ends_number(uint8_t byte) {
  return byte == ' ' || byte == ',' || byte == ']' || byte == '}' || byte == '\n' || byte == '\r' || byte == '\t';
}

// The length of the number (RFC 8259 §6) at the start of `text`, 0 where there is none. `wide` tells whether a
// machine type may be too small for it. Reads at most up to the padding, which is space.
size_t number_length(const uint8_t *text, bool &wide) {
  const uint8_t *at = text;
  if (*at == '-') at++;
  const uint8_t *whole = at;
  if (!is_digit(*at)) return 0;
  if (*at == '0') at++;
  else while (is_digit(*at)) at++;
  wide = at - whole > 18;
  if (*at == '.') {
    wide = true;
    if (!is_digit(*++at)) return 0;
    while (is_digit(*at)) at++;
  }
  if (*at == 'e' || *at == 'E') {
    wide = true;
    at++;
    if (*at == '+' || *at == '-') at++;
    if (!is_digit(*at)) return 0;
    while (is_digit(*at)) at++;
  }
  return ends_number(*at) ? size_t(at - text) : 0;
}

// simdjson takes numbers beyond 64 bits or a double's range for errors; JSON does not. Puts `0.0` in the place of
// all that may be; true where there was one. What is no JSON number stays, and fails the next parse.
bool replace_wide_numbers(Parser &p) {
  bool replaced = false;
  const uint32_t *starts = p.implementation->structural_indexes.get();
  for (uint32_t i = 0; i < p.implementation->n_structural_indexes; i++) {
    if (!p.is_number_start(starts[i])) continue;
    uint8_t *text = &p.source[starts[i]];
    bool wide = false;
    size_t length = number_length(text, wide);
    if (length < 3 || !wide) continue;
    std::memset(text, ' ', length);
    std::memcpy(text, "0.0", 3);
    replaced = true;
  }
  return replaced;
}

csimdjson_error joined(error_code error) {
  switch (error) {
    case simdjson::SUCCESS: return CSIMDJSON_OK;
    case simdjson::EMPTY: return CSIMDJSON_EMPTY;
    case simdjson::UTF8_ERROR: return CSIMDJSON_NOT_UTF8;
    case simdjson::DEPTH_ERROR: return CSIMDJSON_TOO_DEEP;
    case simdjson::STRING_ERROR: return CSIMDJSON_BAD_STRING;
    case simdjson::UNCLOSED_STRING: return CSIMDJSON_UNCLOSED_STRING;
    case simdjson::UNESCAPED_CHARS: return CSIMDJSON_CONTROL_CHARACTER;
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR: return CSIMDJSON_BAD_LITERAL;
    case simdjson::NUMBER_ERROR: return CSIMDJSON_BAD_NUMBER;
    case simdjson::CAPACITY: return CSIMDJSON_TOO_LARGE;
    case simdjson::MEMALLOC: return CSIMDJSON_NO_MEMORY;
    default: return CSIMDJSON_BAD_STRUCTURE;
  }
}

error_code parse(Parser &p, const uint8_t *bytes, size_t length) {
  if (length > largest_message) return simdjson::CAPACITY;
  if (length > p.capacity || p.capacity == 0) {
    if (error_code error = p.grow(length)) return error;
  }
  std::memcpy(p.source.get(), bytes, length);
  std::memset(p.source.get() + length, ' ', simdjson::SIMDJSON_PADDING);
  error_code error = p.implementation->parse(p.source.get(), length, p.document);
  if (error == simdjson::NUMBER_ERROR && replace_wide_numbers(p)) {
    error = p.implementation->parse(p.source.get(), length, p.document);
  }
  return error;
}

}  // namespace

const csimdjson_document *csimdjson_parse(const uint8_t *bytes, size_t length) {
  static const csimdjson_document empty = {nullptr, nullptr, nullptr, 0, nullptr, CSIMDJSON_EMPTY};
  static const csimdjson_document marked = {nullptr, nullptr, nullptr, 0, nullptr, CSIMDJSON_BYTE_ORDER_MARK};
  static const csimdjson_document memoryless = {nullptr, nullptr, nullptr, 0, nullptr, CSIMDJSON_NO_MEMORY};
  if (length == 0) return &empty;
  // simdjson would call the mark a wrong structure.
  if (length >= 3 && std::memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) return &marked;
  Parser *p = free_parser();
  if (!p) return &memoryless;
  csimdjson_error error = joined(parse(*p, bytes, length));
  p->is_read = true;
  p->view = {p->document.tape.get(), p->document.string_buf.get(), bytes, length, p, error};
  return &p->view;
}

void csimdjson_locate_numbers(const csimdjson_document *read) {
  Parser &p = *static_cast<Parser *>(read->parser);
  const uint32_t *start = p.implementation->structural_indexes.get();
  const uint32_t *starts_end = start + p.implementation->n_structural_indexes;
  uint64_t *tape = p.document.tape.get();
  const uint64_t tape_length = tape[0] & simdjson::internal::JSON_VALUE_MASK;
  for (uint64_t at = 1; at < tape_length; at++) {
    const uint64_t type = tape[at] >> 56;
    if (type != 'l' && type != 'u' && type != 'd') continue;
    while (start < starts_end && !p.is_number_start(*start)) start++;
    if (start == starts_end) return;
    tape[at] = (type << 56) | *start++;
    at++;
  }
}

void csimdjson_done(const csimdjson_document *read) {
  Parser *p = static_cast<Parser *>(read->parser);
  if (!p) return;
  p->is_read = false;
  if (p->capacity > kept_capacity) p->drop();
}
