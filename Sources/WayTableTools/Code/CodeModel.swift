import WayNavigation
import WayRouting
import WayTable
import WayValues

/// A type in generated code.
indirect enum CodeType: Hashable {
  case string, integer, number, boolean
  /// Any JSON value.
  case anyValue
  /// An object with unknown members.
  case object
  case array(CodeType)
  /// The index of a declaration of the model.
  case declared(Int)
  /// The type or null.
  case nullable(CodeType)

  /// The type without null.
  var unwrapped: CodeType {
    if case .nullable(let inner) = self { inner } else { self }
  }

  var isNullable: Bool {
    if case .nullable = self { true } else { false }
  }
}

/// A parameter, or a member of an object.
struct CodeMember {
  /// The name in the table.
  let name: String
  let identifier: String
  let type: CodeType
  let isRequired: Bool
  /// The value if it is left out.
  var defaultValue: Value?
  /// The title in the table, on one line.
  var title: String?
  /// The lines of its documentation.
  var notes: [String] = []
  /// Whether it is the rest that a wildcard captures.
  var isRest = false
}

/// A value of an enumeration.
struct CodeCase {
  let identifier: String
  let value: Value
}

/// A type that the generated code declares.
struct CodeDeclaration {
  enum DeclarationKind {
    case structure([CodeMember])
    /// Only strings, or only integers.
    case enumeration([CodeCase])
    case alias(CodeType)
  }

  let identifier: String
  let kind: DeclarationKind
  let notes: [String]
}

/// A method of a page.
struct CodeMethod {
  let method: RoutePageMethod
  /// The identifiers of the route and the method, combined.
  let identifier: String
  let parameters: [CodeMember]
  let result: CodeType
  let notes: [String]
}

/// A route with generated code.
struct CodeRoute {
  /// One form of the route's URI.
  struct URITemplate {
    /// The identifier of the constant.
    let identifier: String
    /// The URI with `:name` for each parameter.
    let text: String
    let parameterNames: [String]
  }

  let route: Route
  /// The templates of all patterns with a scheme. Never empty; the first is the route's own.
  let uriTemplates: [URITemplate]
  /// The number of templates of the first pattern.
  let primaryCount: Int
  let parameters: [CodeMember]
  let result: CodeType
  let methods: [CodeMethod]
  let notes: [String]

  var identifier: String { uriTemplates[0].identifier }
  var isPage: Bool { route.kind == .page }
}

/// A topic that the app publishes.
struct CodeTopic {
  let topic: TableTopicDeclaration
  let identifier: String
  let data: CodeType
  let notes: [String]
}

/// The model of a table in one language: the declarations with their order and names.
struct CodeModel {
  let stamp: TableStamp
  let language: CodeLanguage
  var declarations: [CodeDeclaration] = []
  var routes: [CodeRoute] = []
  var topics: [CodeTopic] = []
  /// The names of routes without a pattern with a scheme; their URIs are unknown.
  var skippedRoutes: [String] = []

  /// The routes that are pages.
  var pages: [CodeRoute] { routes.filter(\.isPage) }
  var tasks: [CodeRoute] { routes.filter { !$0.isPage } }
  /// The routes that are tools for agents.
  var agentRoutes: [CodeRoute] { routes.filter { $0.route.agents != nil } }

  /// The declaration at an index.
  func declaration(_ index: Int) -> CodeDeclaration { declarations[index] }
}
