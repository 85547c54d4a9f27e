import WayNavigation
import WayRouting
import WayTable
import WayValues

/// A type in generated code.
indirect enum CodeType: Hashable {
  case text, integer, number, truth
  /// Any value of JSON.
  case anything
  /// An object of which nothing is known.
  case object
  case list(CodeType)
  /// One of the model's declarations, by its place.
  case declared(Int)
  /// The other, or null.
  case nullable(CodeType)

  /// Without null.
  var unwrapped: CodeType {
    if case .nullable(let inner) = self { inner } else { self }
  }

  var isNullable: Bool {
    if case .nullable = self { true } else { false }
  }
}

/// A parameter, or a member of an object.
struct CodeMember {
  /// What the table calls it.
  let name: String
  let identifier: String
  let type: CodeType
  let isRequired: Bool
  /// What it is where it is left out.
  var defaultValue: Value?
  /// What to say of it, in lines.
  var notes: [String] = []
  /// Whether it is all that a wildcard takes.
  var isRest = false
}

/// A value of an enumeration.
struct CodeCase {
  let identifier: String
  let value: Value
}

/// A type that the generated code declares.
struct CodeDeclaration {
  enum Form {
    case structure([CodeMember])
    /// Of texts only, or of integers only.
    case enumeration([CodeCase])
    case alias(CodeType)
  }

  let identifier: String
  let form: Form
  let notes: [String]
}

/// A method of a page.
struct CodeMethod {
  let method: PageMethod
  /// That of the route, and the method's.
  let identifier: String
  let parameters: [CodeMember]
  let result: CodeType
  let notes: [String]
}

/// A route that code can be generated for.
struct CodeRoute {
  /// One way to write its URI.
  struct Address {
    /// Of the constant.
    let identifier: String
    /// With `:name` for what it takes.
    let text: String
    let names: [String]
  }

  let route: Route
  /// Those of all patterns that have a scheme; never empty, the first is the route's own.
  let addresses: [Address]
  /// How many of them the first pattern has.
  let ownCount: Int
  let parameters: [CodeMember]
  let result: CodeType
  let methods: [CodeMethod]
  let notes: [String]

  var identifier: String { addresses[0].identifier }
  var isPage: Bool { route.kind == .page }
}

/// A topic that the app publishes.
struct CodeTopic {
  let topic: TableTopicDeclaration
  let identifier: String
  let data: CodeType
  let notes: [String]
}

/// A table as code of one language has it: what is declared, in which order, under which names.
struct CodeModel {
  let stamp: TableStamp
  let language: CodeLanguage
  var declarations: [CodeDeclaration] = []
  var routes: [CodeRoute] = []
  var topics: [CodeTopic] = []
  /// The names of routes without a pattern that has a scheme, whose URI therefore is not known.
  var leftOut: [String] = []

  /// What calls and topics are described by, each with its notes.
  var pages: [CodeRoute] { routes.filter(\.isPage) }
  var tasks: [CodeRoute] { routes.filter { !$0.isPage } }

  /// The text that a type's declaration has, or stands for.
  func declaration(_ index: Int) -> CodeDeclaration { declarations[index] }
}
