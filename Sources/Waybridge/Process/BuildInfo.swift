import CWayBuild

/// The commit and compiler of the build.
enum BuildInfo {
  /// The commit that was passed to the build; nil if none was passed.
  static let commit: String? = {
    let commit = String(cString: way_build_commit())
    return commit.isEmpty ? nil : commit
  }()

  /// The version of the Swift runtime; if it is linked statically, that of the compiler.
  static let swiftVersion = _SwiftStdlibVersion.current.description
}

extension BridgeServer {
  /// The commit that this was built from, if the build had the environment variable
  /// `WAYBRIDGE_COMMIT`.
  public static var commit: String? { BuildInfo.commit }
}
