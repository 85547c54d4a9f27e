import Testing

/// Random walks over gates, guards, tabs, modals, deep links, edits of the stack, changes of the table
/// and resumed connections: every call settles once, every page gives one outcome, calls keep their
/// order at a gate, no gate has two pages, and the client shows the pages of the stack.
@Suite(.timeLimit(.minutes(2)))
struct NavigationWalkTests {
  @Test(arguments: 1...32) func walk(_ seed: Int) async throws {
    let walker = try await NavigationWalker(seed: seed)
    for _ in 0..<60 { try await walker.step() }
    try await walker.finish()
  }
}
