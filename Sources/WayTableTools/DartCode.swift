struct DartCode {
  init(_ m: CodeModel) {}
  var text = ""
}
struct KotlinCode {
  init(_ m: CodeModel, package: String?) {}
  var text = ""
}
