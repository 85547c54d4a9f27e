// What the recipe for iOS uses of the platform, without what it does.
@_exported import Foundation
@_exported import FoundationNetworking

@MainActor open class UIView: NSObject {
  public var isHidden = false
  public func addSubview(_ view: UIView) {}
}

@MainActor public final class UIWindow: UIView {}
