import CWayBuild

/// What was built, and by what.
enum BuildInfo {
  /// The commit that the build was told; nil where it was told none.
  static let commit: String? = {
    let commit = String(cString: way_build_commit())
    return commit.isEmpty ? nil : commit
  }()

  /// The version of the Swift runtime: where it is part of the program, that of the compiler.
  static let swiftVersion = _SwiftStdlibVersion.current.description
}

extension BridgeServer {
  /// The commit that this was built from, where the build was told it: by the environment's
  /// `WAYBRIDGE_COMMIT`.
  public static var commit: String? { BuildInfo.commit }
}
