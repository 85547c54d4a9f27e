import WayRPC
import WayRouting
import WayValues

/// What a caller may say beside the URI and its parameters.
struct CallOptions {
  var exts = ValueObject()
  var style: Style = .push
  var from: String?
  var deadline: Duration?
  var isInBatch = false
  /// The caller's own parameters, for where a redirect leads.
  var given = ValueObject()
  /// Where the call has been redirected from, after the redirects of the table.
  var trail: [String] = []
  /// The matches that are left for a call whose handler declined; nil before one did.
  var rest: ArraySlice<Match>?
  /// The tab that the page is to be the first of.
  var tab: Int?
  /// The call is answered with what the opening does to the stack, not with the page's outcome.
  var answersChange = false
  /// What the call carries, of Swift code for Swift code; nil for nothing.
  var carried: Carried?
}

/// The params of `router.open` and `router.invoke`, read in one pass since every call goes through here.
struct CallParams {
  let uri: String
  let params: ValueObject
  let options: CallOptions

  /// `page` is the caller's own, where it runs in one.
  init(_ request: Request, _ entry: Entry, page: String?) throws(RPCError) {
    var uri: String?
    var params = ValueObject()
    var options = CallOptions()
    for member in try MethodParams(request).members.members {
      switch member.name {
      case "uri": uri = try MethodParams.string(member)
      case "params": if let given = try MethodParams.object(member) { params = given }
      case "exts": if let given = try MethodParams.object(member) { options.exts = given }
      case "deadlineMs":
        options.deadline = try MethodParams.count(member).map { .milliseconds($0) }
      case "style" where entry == .open:
        if let given = try MethodParams.style(member) { options.style = given }
      case "from" where entry == .open: options.from = try MethodParams.string(member)
      default: break
      }
    }
    guard let uri else {
      throw .invalidParams("params.uri is missing: it must be a string")
    }
    if entry == .open, options.from == nil { options.from = page }
    self.uri = uri
    self.params = params
    self.options = options
  }
}
