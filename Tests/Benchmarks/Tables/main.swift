// One round of measuring how a table is checked and replaced: `TableFixtures ROUTES`. `run-tables` calls it and
// prints the medians.
@preconcurrency import Glibc
import Synchronization
import Waybridge

guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }),
  (10...100_000).contains(count)
else {
  fputs("usage: Tables ROUTES, from 10 to 100000\n", stderr)
  exit(64)
}

// A table like that of a large app: three of four routes have parameters in their path.
func document(_ version: Int) -> String {
  let routes = (0..<count).map { number in
    let path = number.isMultiple(of: 4) ? "" : "/:id"
    return """
      {"name": "r\(number)", "pattern": "native://shop\(number % 100)/p\(number)\(path)", \
      "kind": "page", "title": "Page \(number) of version \(version)", "groups": ["g\(number % 7)"], \
      "parameters": {"id": {"type": "string"}, "count": {"type": "integer", "default": 1}}, \
      "result": {"type": "object", "properties": {"city": {"type": "string"}}}}
      """
  }
  return "{\"version\": \"\(version)\", \"routes\": [\(routes.joined(separator: ",\n"))]}"
}

// Writes a table to a file of its own and returns its path.
func written(_ version: Int) -> String {
  let path = "/tmp/waybridge-tables-\(getpid())-\(version).json"
  guard let file = fopen(path, "w") else { fatalError("\(path) cannot be written") }
  defer { fclose(file) }
  let bytes = Array(document(version).utf8)
  fwrite(bytes, 1, bytes.count, file)
  return path
}

let clock = ContinuousClock()
let path = written(1)
defer { unlink(path) }
let router = Router()
let start = clock.now
let table = try router.load(tableAt: path)
let loading = clock.now - start

// Readers look URIs up all the time; the longest wait of one of them is reported.
let isOver = Atomic(false)
let longest = Atomic(0)
let lookups = Atomic(0)
let reader = Task.detached {
  let uris = (0..<64).compactMap { try? RouteURI("native://shop\($0)/p\($0)/7") }
  while !isOver.load(ordering: .relaxed) {
    for uri in uris {
      let before = clock.now
      _ = try? router.snapshot().resolve(uri)
      let duration = Int((clock.now - before) / .nanoseconds(1))
      if duration > longest.load(ordering: .relaxed) { longest.store(duration, ordering: .relaxed) }
      lookups.add(1, ordering: .relaxed)
    }
  }
}
let other = written(2)
defer { unlink(other) }
let swapping = clock.now
let change = try await table.replace(withTableAt: other)
let swapped = clock.now - swapping
let operating = clock.now
try await table.update([.redirect("native://old", to: "native://shop0/p0")])
let operated = clock.now - operating
isOver.store(true, ordering: .relaxed)
await reader.value
func milliseconds(_ duration: Duration) -> Double { duration / .microseconds(1) / 1000 }
print(
  """
  {"routes": \(count), "load": \(milliseconds(loading)), "replace": \(milliseconds(swapped)), \
  "swap": \(milliseconds(change.swapDuration)), "operation": \(milliseconds(operated)), "longest": \(Double(longest.load(ordering: .relaxed)) / 1e6)}
  """)
