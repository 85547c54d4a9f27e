// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  // A message that is read in place must not outlive its bytes, and the compiler says so.
  .enableExperimentalFeature("Lifetimes"),
]

func target(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: strict)
}

// The commit that `waybridge --version` tells: what the environment's WAYBRIDGE_COMMIT says. What
// `Context.gitInformation` says is not asked, since SwiftPM keeps a manifest that it has read, and
// would go on to tell an earlier commit. Only this target is compiled again for another one.
let commit = (Context.environment["WAYBRIDGE_COMMIT"] ?? "").filter {
  $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
}

// Whether `Tests/Fuzz/in-process` builds its program, which needs libFuzzer. The program consists of the
// targets of the tests, which it compiles into one module with its own code.
let isFuzzing = Context.environment["WAYBRIDGE_FUZZ"] == "1"
let fuzzDependencies: [Target.Dependency] = [
  "WayValues", "WayPatterns", "WayRPC", "WayRouting", "WayTable", "WayAgents", "WayTransport",
  "WaySession", "WaySockets", "Waybridge", "WaybridgeTokens", "WaybridgeCluster",
]
let fuzzTargets: [Target] =
  isFuzzing
  ? [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
    .executableTarget(
      name: "waybridge-fuzz", dependencies: fuzzDependencies + ["CLibFuzzer"],
      path: "Tests/FuzzTests", sources: ["Targets", "Program"], swiftSettings: strict),
  ]
  : [
    .testTarget(
      name: "FuzzTests", dependencies: fuzzDependencies + ["TestSupport"], path: "Tests/FuzzTests",
      exclude: ["Program"], swiftSettings: strict)
  ]

let package = Package(
  name: "waybridge",
  products: [
    .library(name: "Waybridge", targets: ["Waybridge"]),
    .library(name: "WaybridgeClient", targets: ["WaybridgeClient"]),
    .library(name: "WaybridgeTesting", targets: ["WaybridgeTesting"]),
    .library(name: "WaybridgeTables", targets: ["WaybridgeTables"]),
    .library(name: "WaybridgeTokens", targets: ["WaybridgeTokens"]),
    .library(name: "WaybridgeCluster", targets: ["WaybridgeCluster"]),
    .plugin(name: "WaybridgeModules", targets: ["WaybridgeModules"]),
    .plugin(name: "WaybridgeRoutes", targets: ["WaybridgeRoutes"]),
    .executable(name: "waybridge", targets: ["WaybridgeCommand"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .systemLibrary(name: "CWayCrypto"),
    .systemLibrary(name: "CWayCurl"),
    .systemLibrary(name: "CLibwebsockets"),
    .systemLibrary(name: "CLibuv"),
    .systemLibrary(name: "CWayMalloc"),
    .systemLibrary(name: "CWayNATS"),
    .systemLibrary(name: "CWaySQLite"),
    .target(
      name: "CSimdjson", linkerSettings: [.linkedLibrary("simdjson")]),
    .target(name: "CWebClient"),
    .target(
      name: "CWayBuild", cSettings: [.define("WAYBRIDGE_COMMIT", to: "\"\(commit)\"")]),
    target("WayValues"),
    target("WayPatterns", ["WayValues"]),
    target("WayNavigation", ["WayValues"]),
    target(
      "WayRouting",
      [
        "WayValues", "WayPatterns", "WayNavigation",
        .product(name: "Logging", package: "swift-log"),
      ]),
    target("WayRPC", ["WayValues", "CSimdjson"]),
    target("WayTable", ["WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WayRPC"]),
    target(
      "WayTableTools",
      ["WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WayRPC", "WayTable"]),
    target("WayAgents", ["WayValues", "WayPatterns", "WayNavigation", "WayRPC", "WayRouting"]),
    target("WayShell", ["WayValues", "WayRPC"]),
    target("WayTransport"),
    target("WayCrypto", ["CWayCrypto"]),
    target("WayDownload", ["CWayCurl"]),
    target("WayWebhook", ["WayCrypto", "WayDownload"]),
    .executableTarget(name: "FindModules", swiftSettings: strict),
    .plugin(
      name: "WaybridgeModules", capability: .buildTool(), dependencies: ["FindModules"],
      path: "Sources/WaybridgeModules"),
    target(
      "WaySession",
      [
        "WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WayRPC", "WayTable",
        "WayTransport", "WayAgents",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    target("WayStore", ["WayValues", "WayRouting", "WayRPC", "WaySession", "CWaySQLite"]),
    target(
      "WaySockets",
      [
        "WayTransport", "CLibwebsockets", "CLibuv",
        .product(name: "DequeModule", package: "swift-collections"),
      ]),
    target(
      "Waybridge",
      [
        "WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WayRPC", "WayTable",
        "WayTransport", "WayCrypto", "WaySession", "WaySockets", "WayStore", "CWayBuild",
        "CWayMalloc", "CWebClient",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    target(
      "WaybridgeClient",
      ["WayValues", "WayNavigation", "WayRPC", "WayTransport", "WaySockets"]),
    target("WaybridgeTesting", ["WayTransport", "WaySession", "Waybridge", "WaybridgeClient"]),
    target(
      "WaybridgeTokens",
      [
        "WayRPC", "WayDownload", "WayCrypto", "Waybridge", "CWayCrypto",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    target(
      "WaybridgeTables",
      [
        "WayValues", "WayRPC", "WayTable", "WayDownload", "Waybridge",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ]),
    target(
      "WaybridgeCluster",
      [
        "WayValues", "WayRPC", "WayTransport", "WaySession", "WayStore", "WayCrypto", "Waybridge",
        "CWayNATS",
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "WaybridgeCommand",
      dependencies: [
        "WayShell", "WayDownload", "WayWebhook", "WayTableTools", "WayStore", "WayTable",
        "Waybridge", "WaybridgeClient",
        "WaybridgeCluster", "WaybridgeTables", "WaybridgeTokens",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      exclude: ["Packaging"], swiftSettings: strict),
    .plugin(
      name: "WaybridgeRoutes",
      capability: .command(
        intent: .custom(
          verb: "waybridge-routes",
          description: "Check a route table, generate typed calls from it, export and compare it."),
        permissions: [
          .writeToPackageDirectory(reason: "What is generated is a part of the package.")
        ]),
      path: "Sources/WaybridgeRoutes"),
    tests("WayValuesTests", ["WayValues"]),
    tests("WayPatternsTests", ["WayValues", "WayPatterns", "TestSupport"]),
    tests("WayNavigationTests", ["WayValues", "WayNavigation", "TestSupport"]),
    tests(
      "WayRoutingTests",
      ["WayValues", "WayPatterns", "WayNavigation", "WayRouting", "TestSupport"]),
    tests("WayRPCTests", ["WayValues", "WayRPC", "TestSupport"]),
    tests(
      "WayAgentsTests",
      [
        "WayValues", "WayPatterns", "WayNavigation", "WayRPC", "WayRouting", "WayTable",
        "WayAgents", "TestSupport",
      ]),
    tests("WayShellTests", ["WayValues", "WayRPC", "WayShell"]),
    tests("FindModulesTests", ["FindModules"]),
    tests(
      "WayTableTests",
      ["WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WayRPC", "WayTable"]),
    .testTarget(
      name: "WayTableToolsTests",
      dependencies: [
        "WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WayRPC", "WayTable",
        "WayTableTools", "TestSupport",
      ],
      path: "Tests/WayTableToolsTests", exclude: ["Golden"], swiftSettings: strict),
    tests(
      "WaySessionTests",
      [
        "WayValues", "WayPatterns", "WayNavigation", "WayRouting", "WayRPC", "WayTable",
        "WayTransport", "WaySession", "TestSupport",
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
      ]),
    tests(
      "WayStoreTests",
      [
        "WayValues", "WayNavigation", "WayPatterns", "WayRouting", "WaySession", "WayStore",
        "WaybridgeCluster", "TestSupport",
      ]),
    tests("WaySocketsTests", ["WayTransport", "WaySockets", "TestSupport"]),
    tests(
      "WaybridgeTests",
      [
        "WayRPC", "WayRouting", "WayStore", "WayTable", "WayTransport", "WaySession", "WaySockets",
        "Waybridge", "WaybridgeClient", "WaybridgeCluster", "WaybridgeTesting", "TestSupport",
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
      ]),
    tests("WaybridgeTestingTests", ["Waybridge", "WaybridgeClient", "WaybridgeTesting"]),
    tests(
      "WaybridgeTokensTests",
      [
        "WayRPC", "WayDownload", "Waybridge", "WaybridgeTokens", "CWayCrypto", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ]),
    tests("WayCryptoTests", ["WayCrypto"]),
    tests("WayWebhookTests", ["WayCrypto", "WayDownload", "WayWebhook"]),
    tests(
      "WaybridgeClusterTests",
      ["CWayNATS", "WayCrypto", "WaySession", "WaybridgeCluster", "TestSupport"]),
    .target(
      name: "TestSupport",
      dependencies: [
        "WayValues", "WayRPC", "WayTransport", .product(name: "Logging", package: "swift-log"),
      ],
      path: "Tests/Support",
      swiftSettings: strict),
  ] + fuzzTargets,
  cLanguageStandard: .c2x,
  cxxLanguageStandard: .cxx17
)
