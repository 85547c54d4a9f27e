// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "examples",
  dependencies: [.package(name: "waybridge", path: "../..")],
  targets: [
    .executableTarget(
      name: "Library",
      dependencies: [.product(name: "Waybridge", package: "waybridge")],
      path: "Library"),
    .executableTarget(
      name: "NativeShell",
      dependencies: [.product(name: "WaybridgeClient", package: "waybridge")],
      path: "NativeShell"),
    .executableTarget(
      name: "ModularApp",
      dependencies: ["Profile", .product(name: "Waybridge", package: "waybridge")],
      path: "ModularApp",
      plugins: [.plugin(name: "WaybridgeModules", package: "waybridge")]),
    .target(
      name: "Profile",
      dependencies: [.product(name: "Waybridge", package: "waybridge")],
      path: "Profile"),
    .target(
      name: "ShopRoutes",
      dependencies: [.product(name: "WaybridgeClient", package: "waybridge")],
      path: "ShopRoutes",
      swiftSettings: [.treatAllWarnings(as: .error)]),
    .testTarget(
      name: "ShopRoutesTests",
      dependencies: [
        "ShopRoutes", .product(name: "Waybridge", package: "waybridge"),
        .product(name: "WaybridgeClient", package: "waybridge"),
      ],
      path: "ShopRoutesTests"),
    .testTarget(
      name: "ModularAppTests",
      dependencies: [
        "ModularApp", .product(name: "Waybridge", package: "waybridge"),
        .product(name: "WaybridgeTesting", package: "waybridge"),
      ],
      path: "ModularAppTests"),
  ]
)
