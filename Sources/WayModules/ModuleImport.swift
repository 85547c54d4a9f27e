/// A module that a file imports.
struct ModuleImport {
  let module: String
  /// Whether it says nothing of who may see the import.
  let isPlain: Bool
  /// The `#if` that it stands in, as Swift.
  let condition: String?
}
