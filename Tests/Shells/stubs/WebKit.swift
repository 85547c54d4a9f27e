// The part of the platform that the recipe for iOS uses, without behaviour. References have the
// same ownership as there.
import UIKit

@MainActor public final class WKScriptMessage: NSObject {
  public var body: Any { NSNull() }
}

@MainActor public protocol WKScriptMessageHandler: NSObjectProtocol {
  func userContentController(
    _ controller: WKUserContentController, didReceive message: WKScriptMessage)
}

@MainActor public final class WKUserContentController: NSObject {
  private var handlers: [String: any WKScriptMessageHandler] = [:]

  public func add(_ handler: any WKScriptMessageHandler, name: String) { handlers[name] = handler }

  public func removeScriptMessageHandler(forName name: String) { handlers[name] = nil }
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
  public let configuration: WKWebViewConfiguration

  public init(frame: CGRect, configuration: WKWebViewConfiguration) {
    self.configuration = configuration
  }

  public weak var navigationDelegate: (any WKNavigationDelegate)?
  public func stopLoading() {}
  @discardableResult public func load(_ request: URLRequest) -> Any? { nil }
  public func evaluateJavaScript(
    _ script: String, completionHandler: ((Any?, (any Error)?) -> Void)?
  ) {}
}
