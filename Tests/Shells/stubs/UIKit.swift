// The part of the platform that the recipe for iOS uses, without behaviour. References have the
// same ownership as there.
@_exported import Foundation
@_exported import FoundationNetworking

@MainActor open class UIView: NSObject {
  public var isHidden = false
  private var subviews: [UIView] = []
  private weak var superview: UIView?

  public func addSubview(_ view: UIView) {
    subviews.append(view)
    view.superview = self
  }

  public func removeFromSuperview() { superview?.subviews.removeAll { $0 === self } }
}

@MainActor public final class UIWindow: UIView {}
