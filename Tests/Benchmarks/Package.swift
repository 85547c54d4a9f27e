// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "waybridge", path: "../..")],
  targets: [
    .systemLibrary(name: "CMalloc", path: "CMalloc"),
    .executableTarget(
      name: "Lookup",
      dependencies: ["CMalloc", .product(name: "Waybridge", package: "waybridge")],
      path: "Lookup"),
    .executableTarget(
      name: "Serving",
      dependencies: [.product(name: "Waybridge", package: "waybridge")],
      path: "Serving"),
    .executableTarget(
      name: "Tables",
      dependencies: [.product(name: "Waybridge", package: "waybridge")],
      path: "Tables"),
  ]
)
