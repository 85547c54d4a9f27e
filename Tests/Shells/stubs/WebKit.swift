// What the recipe for iOS uses of the platform, without what it does.
import UIKit

@MainActor public final class WKScriptMessage: NSObject {
  public var body: Any { NSNull() }
}

@MainActor public protocol WKScriptMessageHandler: NSObjectProtocol {
  func userContentController(
    _ controller: WKUserContentController, didReceive message: WKScriptMessage)
}

@MainActor public final class WKUserContentController: NSObject {
  public func add(_ handler: any WKScriptMessageHandler, name: String) {}
}

@MainActor public final class WKWebViewConfiguration: NSObject {
  public var userContentController = WKUserContentController()
}

@MainActor public final class WKNavigationAction: NSObject {
  public var request: URLRequest { fatalError() }
}

public enum WKNavigationActionPolicy { case cancel, allow }

@MainActor public protocol WKNavigationDelegate: NSObjectProtocol {
  func webView(_ webView: WKWebView, decidePolicyFor action: WKNavigationAction) async
    -> WKNavigationActionPolicy
}

@MainActor public final class WKWebView: UIView {
  public init(frame: CGRect, configuration: WKWebViewConfiguration) {}
  public weak var navigationDelegate: (any WKNavigationDelegate)?
  @discardableResult public func load(_ request: URLRequest) -> Any? { nil }
  public func evaluateJavaScript(
    _ script: String, completionHandler: ((Any?, (any Error)?) -> Void)?
  ) {}
}
