#pragma once
#include <curl/curl.h>

/* Swift cannot import curl_easy_setopt and curl_easy_getinfo, which are variadic. */
static inline CURLcode way_curl_set_long(CURL *transfer, CURLoption option, long value) {
  return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode way_curl_set_text(CURL *transfer, CURLoption option, const char *value) {
  return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode way_curl_set_pointer(CURL *transfer, CURLoption option, void *value) {
  return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode way_curl_set_bytes(CURL *transfer, CURLoption option, const void *value) {
  return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode way_curl_set_list(CURL *transfer, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(transfer, option, value);
}
static inline CURLcode way_curl_set_receiver(CURL *transfer, curl_write_callback receive, void *receiver) {
  CURLcode code = curl_easy_setopt(transfer, CURLOPT_WRITEFUNCTION, receive);
  return code != CURLE_OK ? code : curl_easy_setopt(transfer, CURLOPT_WRITEDATA, receiver);
}
static inline long way_curl_status(CURL *transfer) {
  long status = 0;
  curl_easy_getinfo(transfer, CURLINFO_RESPONSE_CODE, &status);
  return status;
}
static inline const char *way_curl_redirect(CURL *transfer) {
  char *address = (char *)0;
  curl_easy_getinfo(transfer, CURLINFO_REDIRECT_URL, &address);
  return address;
}
static inline curl_off_t way_curl_length(CURL *transfer) {
  curl_off_t length = -1;
  curl_easy_getinfo(transfer, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  return length;
}
