import Waybridge
import WaybridgeClient

/// A session as the inspector has recorded it: lines of JSON, the first says what there was, the
/// others are records of `admin.records` with their messages.
struct RecordedSession {
  /// A client of the session.
  struct Member {
    /// Its name in the recording.
    let id: String
    var name = "replay"
    var version = "1"
    var page: String?
    var isGuest = false
    var hosts: [Value] = []
    var topics: [String] = []
  }

  /// A page that was there when the recording began.
  struct Page {
    let id: String
    let uri: String
    let params: Value
    let isPresented: Bool
    /// The calls that had opened it, as far as they have ended in the recording.
    fileprivate(set) var openings: [Call] = []

    /// nil for what is no page of a stack.
    fileprivate init?(_ told: Value) {
      guard let id = told["id"]?.string, let uri = told["uri"]?.string else { return nil }
      self.id = id
      self.uri = uri
      params = told["params"] ?? [:]
      isPresented = told["style"] == "present"
    }
  }

  /// What a client has called.
  struct Call: Sendable {
    /// Where it stands in the recording; no other has it.
    let line: Int
    let client: String
    let method: String
    let params: Value
    let isNotification: Bool
    /// The page that it has opened.
    let page: String?
    /// What it was answered; nil where that is not known.
    let answer: Value?
    let code: Int64

    init(_ record: Value, line: Int, client: String) {
      self.line = line
      self.client = client
      params = record["params"] ?? .null
      method = record["method"]?.string ?? ""
      page = method == "router.open" ? record["page"]?.string : nil
      isNotification = record["notification"]?.bool == true
      answer = record["ms"] == nil ? nil : record["result"]
      code = record["code"]?.integer ?? 0
    }

    /// For people.
    var text: String { "\(method) \(params["uri"]?.string ?? "")".trimmed }
  }

  /// What a client was asked, and has answered.
  struct Ask: Sendable {
    /// Where it stands in the recording; no other has it.
    let line: Int
    let client: String
    let id: Value
    let method: String
    let params: Value
    let answer: Value
    let code: Int64

    init(_ record: Value, line: Int, client: String, params: Value, answer: Value) {
      self.line = line
      self.client = client
      self.params = params
      self.answer = answer
      id = record["id"] ?? .null
      method = record["method"]?.string ?? ""
      code = record["code"]?.integer ?? 0
    }

    /// What it is about, by which it is found again: a URI, or the name of a page's method.
    var subject: String {
      params["uri"]?.string ?? params["page"]?["uri"]?.string ?? params["method"]?.string ?? ""
    }

    /// For people.
    var text: String { "\(method) \(subject)".trimmed }
  }

  enum Event {
    case joins(Member)
    case calls(Call)
    case isAsked(Ask)
    case answers(Ask)
    /// The page of a call is there.
    case isShown(String)
    case isAnswered(Call)
    case leaves(String)

    /// What comes first of what is told of one moment.
    fileprivate var rank: Int {
      switch self {
      case .joins: 0
      case .calls: 1
      case .isAsked: 2
      case .answers: 3
      case .isShown: 4
      case .isAnswered: 5
      case .leaves: 6
      }
    }
  }

  /// Who was there when the recording began, in the order in which they had come.
  private(set) var members: [Member] = []
  /// The pages that were there, bottom first.
  private(set) var pages: [Page] = []
  /// What happened, by its times, in milliseconds.
  private(set) var events: [(at: Double, event: Event)] = []
  /// How many messages cannot be played: they were too large to be told, were left out, or belong to
  /// calls that had begun before the recording.
  private(set) var left = 0
  /// What is earlier had begun before.
  private let start: Double
  /// The numbers of the calls that waited then.
  private let early: Set<Int64>

  /// What a client does with its own session and connection, which a replay does by itself.
  private static let own: Set = [
    "session.open", "session.resume", "session.close", "session.renew", "rpc.discover",
  ]

  /// Reads the lines of a file, which is named in what is thrown.
  init(_ lines: [Substring], from path: String) throws(CommandError) {
    var values: [(line: Int, value: Value)] = []
    for (index, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
      do throws(InvalidJSON) { values.append((index + 1, try Value(json: String(line)))) } catch {
        throw CommandError("\(path):\(index + 1): this is not JSON: \(error)")
      }
    }
    guard let head = values.first?.value, head["type"] == "recording", head["version"] == 1 else {
      throw CommandError(
        "\(path):1: this is no recording: its first line must be {\"type\": \"recording\", "
          + "\"version\": 1, …}, as the inspector writes it")
    }
    members = (head["clients"]?.list ?? []).compactMap(Member.init)
    // Both are told by clocks that began at a whole millisecond.
    start = (head["at"]?.double ?? -.infinity) - 1
    early = Set((head["calls"]?.list ?? []).compactMap { $0["call"]?.integer })
    let told = Self.flat(head["stack"]?["pages"]?.list ?? [])
    pages = told.compactMap(Page.init)
    left = told.count - pages.count
    add(values.dropFirst())
    order()
  }

  private mutating func add(_ records: ArraySlice<(line: Int, value: Value)>) {
    // Calls that have not ended are told only as such.
    var waiting: [Int64: (line: Int, record: Value)] = [:]
    for (line, record) in records {
      guard let at = record["at"]?.double, at.isFinite else {
        // The last line may tell of what the inspector has left out.
        left += Int(min(max(record["left"]?.integer ?? 1, 0), 1 << 32))
        continue
      }
      switch record["type"]?.string {
      case "call":
        let number = record["call"]?.integer
        if record["state"] == "waits", let number {
          waiting[number] = (line, record)
        } else {
          if let number { waiting[number] = nil }
          add(call: record, line, at)
        }
      case "ask": add(ask: record, line, at)
      case "page":
        guard record["event"] == "opened", let page = record["page"]?.string else { break }
        events.append((at, .isShown(page)))
      case "client": add(client: record, at, among: records)
      default: break
      }
    }
    for (line, record) in waiting.values { add(call: record, line, record["at"]?.double ?? 0) }
  }

  private mutating func order() {
    // Those that nobody here has opened, nobody here is told of.
    let opened = Set(
      events.compactMap { if case .calls(let call) = $0.event { call.page } else { nil } })
    events.removeAll {
      if case .isShown(let page) = $0.event { !opened.contains(page) } else { false }
    }
    let order = events.enumerated().sorted { one, other in
      (one.element.at, one.element.event.rank, one.offset)
        < (other.element.at, other.element.event.rank, other.offset)
    }
    events = order.map(\.element)
  }

  private mutating func add(call record: Value, _ line: Int, _ at: Double) {
    guard let client = record["client"]?.string, let method = record["method"]?.string,
      !Self.own.contains(method), !method.hasPrefix("$/"), !method.hasPrefix("admin.")
    else { return }
    let call = Call(record, line: line, client: client)
    let end = call.isNotification ? nil : record["ms"]?.double.map { at + $0 }
    if let page = pages.firstIndex(where: { $0.id == call.page }) {
      // The page is opened before all else.
      guard let end else { return }
      pages[page].openings.append(call)
      events.append((end, .isAnswered(call)))
      return
    }
    if hasBegunBefore(record, at) { return }
    if record["paramsCut"] != nil {
      left += 1
      return
    }
    events.append((at, .calls(call)))
    if let end { events.append((end, .isAnswered(call))) }
  }

  private mutating func add(ask record: Value, _ line: Int, _ at: Double) {
    guard let client = record["client"]?.string, let ms = record["ms"]?.double else { return }
    if hasBegunBefore(record, at) { return }
    guard let params = record["params"], let answer = record["result"] else {
      left += 1
      return
    }
    let ask = Ask(record, line: line, client: client, params: params, answer: answer)
    events.append((at, .isAsked(ask)))
    events.append((at + ms, .answers(ask)))
  }

  /// Whether something had begun before the recording, or belongs to what had: nobody calls that in
  /// the replay. What had ended by then is not missed.
  private mutating func hasBegunBefore(_ record: Value, _ at: Double) -> Bool {
    let isEarly = record["call"]?.integer.map(early.contains) ?? false
    guard at < start || isEarly else { return false }
    if at + (record["ms"]?.double ?? 0) >= start { left += 1 }
    return true
  }

  private mutating func add(
    client record: Value, _ at: Double, among records: ArraySlice<(line: Int, value: Value)>
  ) {
    guard at >= start, let id = record["client"]?.string else { return }
    switch record["event"]?.string {
    case "joined":
      var member = Member(record) ?? Member(id: id)
      // What it hosts from the start is told on its own.
      let hosts = records.first {
        $0.value["event"] == "hosts" && $0.value["client"]?.string == id
      }
      member.hosts = hosts?.value["hosts"]?.list ?? []
      events.append((at, .joins(member)))
    case "left": events.append((at, .leaves(id)))
    default: break
    }
  }

  /// All pages, those of modal stacks after what they lie over.
  private static func flat(_ pages: [Value]) -> [Value] {
    pages.flatMap { [$0] + flat($0["pages"]?.list ?? []) }
  }
}

extension RecordedSession.Member {
  /// As `admin.session` and the records of clients tell it; nil for what is none.
  fileprivate init?(_ told: Value) {
    guard let id = told["client"]?.string else { return nil }
    self.id = id
    name = told["name"]?.string ?? name
    version = told["version"]?.string ?? version
    page = told["page"]?.string
    isGuest = told["guest"]?.bool == true
    hosts = told["hosts"]?.list ?? []
    topics = told["topics"]?.list?.compactMap(\.string) ?? []
  }
}

extension String {
  fileprivate var trimmed: String {
    hasSuffix(" ") ? String(dropLast()) : self
  }
}
