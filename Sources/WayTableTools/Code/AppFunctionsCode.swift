import WayRouting
import WayValues

/// Generates Android's AppFunctions: a service with a function for each route that is a tool for
/// agents. The functions use the calls and types of the file for Kotlin.
struct AppFunctionsCode {
  private let model: CodeModel
  private let package: String?
  /// The file for Kotlin.
  private let kotlin: KotlinCode
  private let types: AppFunctionTypes
  private var functions: [(route: CodeRoute, name: String, parameters: [CodeMember])] = []
  /// The routes with a required parameter that AppFunctions do not support.
  private var omitted: [String] = []

  /// `package` is the package of both files; `nil` for none.
  init(_ model: CodeModel, package: String?) {
    self.model = model
    self.package = package
    kotlin = KotlinCode(model, package: package)
    var types = AppFunctionTypes(model, kotlin)
    var names = CodeIdentifiers(
      .lower, reserved: Self.reservedFunctions, allowsNonASCIILetters: true)
    for route in model.agentRoutes {
      guard route.parameters.allSatisfy({ !$0.isRequired || types.isSupported($0.type) }) else {
        omitted.append(route.route.name)
        continue
      }
      let parameters = route.parameters.filter { types.isSupported($0.type) }
      for parameter in parameters { types.add(parameter.type, asParameter: true) }
      types.add(route.result, asParameter: false)
      let name = names.name(for: route.identifier, route.route.kind.rawValue)
      functions.append((route, name, parameters))
    }
    self.types = types
  }

  /// Kotlin's keywords, and the functions of an Android service without parameters.
  private static let reservedFunctions: Set = [
    "as", "break", "callRoute", "class", "clone", "continue", "do", "else", "false", "finalize",
    "finished", "for", "fun",
    "hashCode", "if", "in", "interface", "is", "jsonText", "notify", "notifyAll", "null", "object",
    "onCreate",
    "onDestroy", "onLowMemory", "package", "return", "stopSelf", "super", "this", "throw",
    "toString", "true", "try", "typealias", "typeof", "val", "var", "wait", "when", "while",
  ]

  var text: String {
    var code = CodeWriter(unit: "    ")
    code.comment(
      model.heading
        + (omitted.isEmpty
          ? [] : ["", "Omitted, because AppFunctions do not support a required parameter:"])
        + omitted.map { "- \($0.visible)" }, mark: "//")
    code.line()
    code.line("@file:Suppress(\"NAME_SHADOWING\", \"unused\")")
    code.line()
    if let package {
      code.line("package \(package)")
      code.line()
    }
    code.verbatim(Self.imports)
    code.line()
    code.blockComment(["What the functions need of the app."])
    code.block("object RouteFunctions {") { code in
      code.blockComment(["The version of the table that this code was generated from."])
      code.line("const val tableVersion: String = \(literal(model.stamp.version))")
      code.line("const val tableHash: String = \(literal(model.stamp.hash))")
      code.line()
      code.blockComment(
        ["Returns the app's connection to its bridge. Set it when the app's process starts."])
      code.line("@Volatile var client: (suspend () -> RouteClient)? = null")
    }
    code.line()
    code.verbatim(Self.serviceHead)
    code.finishBlock { code in
      for (index, function) in functions.enumerated() {
        if index > 0 { code.line() }
        write(function.route, as: function.name, function.parameters, to: &code)
      }
    }
    types.write(to: &code)
    code.line()
    code.verbatim(Self.runtime)
    if types.hasJSON {
      code.line()
      code.verbatim(Self.jsonRuntime)
    }
    return code.text
  }

  private func write(
    _ route: CodeRoute, as name: String, _ parameters: [CodeMember], to code: inout CodeWriter
  ) {
    let type = route.isPage ? route.result.unwrapped : route.result
    let explained = parameters.filter { !$0.explanation.isEmpty }
    var notes = route.notes.isEmpty ? [route.route.name.visible] : route.notes
    if !explained.isEmpty { notes.append("") }
    notes += explained.map { "@param \($0.identifier) \($0.explanation)" }
    code.blockComment(notes)
    code.line("@AppFunctionDeclaration(isDescribedByKDoc = true)")
    let result = types.name(of: type)
    if parameters.isEmpty {
      code.line("suspend fun \(name)(): \(result) =")
    } else {
      code.block("suspend fun \(name)(", "): \(result) =") { code in
        for parameter in parameters {
          if let values = types.allowedTexts(of: parameter.type) {
            code.line("@AppFunctionStringValueConstraint(enumValues = [\(values)])")
          }
          code.line("\(declaration(of: parameter)),")
        }
      }
    }
    let given = parameters.map { "\($0.identifier) = \(argument($0))" }.joined(separator: ", ")
    let call = "client_.\(kotlin.callName(of: route))(\(given))"
    let value = route.isPage ? "finished(\(call))" : call
    let converted =
      types.isSame(type) ? value : "\(value).let { value -> \(types.converted("value", type)) }"
    // No parameter has this name.
    code.line("    callRoute { client_ -> \(converted) }")
  }

  private func declaration(of parameter: CodeMember) -> String {
    let name = parameter.identifier
    if parameter.isRequired { return "\(name): \(types.name(of: parameter.type))" }
    if let value = defaultLiteral(of: parameter) {
      return "\(name): \(types.name(of: parameter.type)) = \(value)"
    }
    return "\(name): \(types.name(of: .nullable(parameter.type.unwrapped))) = null"
  }

  private func defaultLiteral(of parameter: CodeMember) -> String? {
    let isNamed = model.literal(ofDefault: parameter) { _, _ in "" }
    guard let isNamed else { return nil }
    // The default of an enumeration is its value.
    return isNamed.isEmpty ? parameter.defaultValue.map(kotlin.literal) : isNamed
  }

  /// The argument of the call in the file for Kotlin.
  private func argument(_ parameter: CodeMember) -> String {
    let isNullable =
      parameter.type.isNullable || (!parameter.isRequired && defaultLiteral(of: parameter) == nil)
    let type = parameter.type.unwrapped
    return types.restored(
      parameter.identifier, isNullable ? .nullable(type) : type, at: parameter.name)
  }

  private func literal(_ text: String) -> String { model.language.literal(text) }

  private static let imports = """
    import androidx.annotation.RequiresApi
    import androidx.appfunctions.AppFunctionAppUnknownException
    import androidx.appfunctions.AppFunctionDeclaration
    import androidx.appfunctions.AppFunctionInvalidArgumentException
    import androidx.appfunctions.AppFunctionSerializable
    import androidx.appfunctions.AppFunctionService
    import androidx.appfunctions.AppFunctionServiceEntryPoint
    import androidx.appfunctions.AppFunctionStringValueConstraint

    """

  private static let serviceHead = """
    /** The app's routes for agents. The compiler of AppFunctions makes the service RouteFunctionService of it. */
    @RequiresApi(36)
    @AppFunctionServiceEntryPoint(
        serviceName = "RouteFunctionService",
        appFunctionXmlFileName = "route_function_service",
    )
    abstract class BaseRouteFunctionService : AppFunctionService() {

    """

  private static let runtime = """
    private suspend fun <R> callRoute(body: suspend (RouteClient) -> R): R {
        val connect = RouteFunctions.client
            ?: throw AppFunctionAppUnknownException("the app has not set RouteFunctions.client")
        try {
            return body(connect())
        } catch (error: RouteException) {
            throw AppFunctionInvalidArgumentException(error.message)
        }
    }

    private fun <R> finished(outcome: PageOutcome<R>): R {
        if (outcome.kind != "finished" || outcome.data == null) {
            val reason = outcome.message.ifEmpty { "the user closed the page without a result" }
            throw AppFunctionAppUnknownException(reason)
        }
        return outcome.data
    }

    """

  private static let jsonRuntime = #"""
    private fun jsonText(value: Any?): String = when (value) {
        is Map<*, *> -> value.entries.joinToString(",", "{", "}") { jsonText(it.key.toString()) + ":" + jsonText(it.value) }
        is List<*> -> value.joinToString(",", "[", "]") { jsonText(it) }
        is String -> buildString {
            append("\"")
            for (char in value) {
                when {
                    char == '"' -> append("\\\"")
                    char.code == 0x5C -> append("\\\\")
                    char.code < 0x20 -> append("\\u" + char.code.toString(16).padStart(4, '0'))
                    else -> append(char)
                }
            }
            append("\"")
        }
        else -> value.toString()
    }

    """#
}
