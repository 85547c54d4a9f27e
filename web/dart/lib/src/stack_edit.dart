import 'options.dart';
import 'values.dart';

/// The pages that an edit of the stack removes, among those that are shown. A
/// page is named by its id, its URI or the name of its route.
final class PageRange {
  /// One page. Those above it stay.
  PageRange.page(String page) : json = <String, Object?>{'page': page};

  /// The pages from [page] through another, both included; without [through],
  /// to the top.
  PageRange.from(String page, {String? through})
    : json = withoutNulls(<String, Object?>{'from': page, 'through': through});

  /// All pages above [page].
  PageRange.above(String page) : json = <String, Object?>{'above': page};

  /// All pages of the selected tab, or of no tab, and the modals over them.
  PageRange.all() : json = <String, Object?>{'all': true};

  /// The object of the protocol.
  final Json json;
}

/// A page that an edit of the stack opens.
final class AddedPage {
  /// The [style] is `push` or `present`; by default that of the route.
  const AddedPage(this.uri, {this.params, this.exts, this.style});

  /// The URI of the page.
  final String uri;

  /// The parameters of the page, in addition to those of the URI.
  final Json? params;

  /// Options for the host of the page, such as `animated`.
  final Json? exts;

  /// `push` or `present`; null for that of the route.
  final PageStyle? style;

  /// The object of the protocol.
  Json get json => withoutNulls(<String, Object?>{
    'uri': uri,
    'params': params,
    'exts': exts,
    'style': style?.name,
  });
}
