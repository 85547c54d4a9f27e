import Testing
import WayRPC
import WayRouting
import WayValues

@testable import WayAgents

struct AgentToolListTests {
  private static func tools(_ count: Int) throws -> [AgentTool] {
    let routes = (0..<count).map { number -> Value in
      [
        "name": "tool\(number)", "pattern": "action://tool/\(number)", "kind": "task",
        "agents": [:], "title": "Title \(number)",
        "purpose": number == 17 ? "Finds a hotel in Ulm." : "Does something with a list.",
      ]
    }
    return AgentToolTable(try AgentToolTests.snapshot(.array(routes.shuffled()))).tools
  }

  private static func context(_ post: TestPost) throws -> MCPResponseContext {
    MCPResponseContext(try post.request(), from: MCPImplementation(name: "shop", version: "1"))
  }

  @Test("pages have all tools in one order, whatever the size of a page")
  func pagesHaveAllTools() throws {
    let tools = try Self.tools(40)
    let names = tools.map(\.name)
    #expect(names == names.sorted())
    for size in [1, 1_000, 5_000, 1_000_000] {
      var limits = AgentToolList.ListLimits()
      limits.maxPageBytes = size
      let list = AgentToolList(tools, limits: limits)
      var found: [String] = []
      var cursor: String?
      var pages = 0
      repeat {
        let page = try list.page(after: cursor, for: .stateless)
        found += page.tools.compactMap { $0["name"]?.string }
        cursor = page.nextCursor
        pages += 1
      } while cursor != nil && pages <= 40
      #expect(found == names)
      #expect(pages == (size == 1 ? 40 : pages))
      #expect(size < 1_000_000 || pages == 1)
    }
  }

  @Test("a cursor stays valid when the tool that it names is gone")
  func cursorOutlivesTool() throws {
    var tools = try Self.tools(3)
    var limits = AgentToolList.ListLimits()
    limits.maxPageBytes = 1
    let cursor = try AgentToolList(tools, limits: limits).page(after: nil, for: .stateless)
      .nextCursor
    tools.removeFirst()
    let page = try AgentToolList(tools, limits: limits).page(after: cursor, for: .stateless)
    #expect(page.tools.first?["name"] == "tool1")
  }

  @Test(
    "a cursor that no page had is rejected",
    arguments: ["", "x", "YWZ0ZXI", "dG9vbDE=", String(repeating: "A", count: 400)])
  func rejectsCursor(_ cursor: String) throws {
    let list = AgentToolList(try Self.tools(3))
    let context = try Self.context(.stateless("tools/list"))
    #expect {
      _ = try context.page(of: list, after: cursor)
    } throws: {
      ($0 as? MCPRejection)?.error.code == -32602 && ($0 as? MCPRejection)?.id == .integer(1)
    }
  }

  @Test("the result of tools/list may be used for some time by its client alone")
  func listIsPrivate() throws {
    let list = AgentToolList(try Self.tools(1))
    let result = try Self.context(.stateless("tools/list")).page(of: list, after: nil)
      .value?["result"]
    #expect(result?["resultType"] == "complete")
    #expect(result?["cacheScope"] == "private")
    #expect((result?["ttlMs"]?.integer ?? -1) >= 0)
    #expect(result?["nextCursor"] == nil)
    #expect(
      result?["_meta"]?["io.modelcontextprotocol/serverInfo"] == ["name": "shop", "version": "1"])
    let older = try Self.context(TestPost("", #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#))
      .page(of: list, after: nil).value?["result"]
    #expect(older?.object?.members.map(\.name) == ["tools", "_meta"])
  }

  @Test("above 40 tools, two tools stand in for the list, and find and describe the others")
  func searchStandsIn() throws {
    let list = AgentToolList(try Self.tools(41))
    #expect(list.isSearchable)
    #expect(!AgentToolList(try Self.tools(40)).isSearchable)
    let page = try list.page(after: nil, for: .stateless)
    #expect(page.tools.map { $0["name"] } == ["describe", "search"])
    let context = try Self.context(.stateless("tools/list"))
    func run(_ name: String, _ arguments: ValueObject) -> Value? {
      context.search(list, MCPToolCall(name: name, arguments: arguments, key: nil))?.value?[
        "result"]
    }
    let found = run("search", ["query": "hotel, please"])?["structuredContent"]
    #expect(
      found == [
        "tools": [
          ["name": "tool17", "title": "Title 17", "description": "Finds a hotel in Ulm."]
        ],
        "total": 1,
      ])
    let all = run("search", [:])?["structuredContent"]
    #expect(all?["tools"]?.array?.count == 10)
    #expect(all?["total"] == 41)
    let described = run("describe", ["name": "tool17"])?["structuredContent"]
    #expect(described?["inputSchema"]?["type"] == "object")
    #expect(described?["name"] == "tool17")
    for (name, arguments) in [
      ("search", ["limit": 0]), ("search", ["limit": 51]), ("search", ["query": 1]),
      ("describe", [:]),
      ("search", ["query": .string(String(repeating: "x", count: 257))]),
      ("describe", ["name": "tool171"]),
    ] as [(String, ValueObject)] {
      let result = run(name, arguments)
      #expect(result?["isError"] == true)
      #expect(result?["content"]?.array?.first?["text"]?.string?.count ?? 0 > 30)
    }
    #expect(run("tool1", [:]) == nil)
  }
}
