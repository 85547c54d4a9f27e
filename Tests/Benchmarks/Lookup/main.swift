// One round of measuring a table: `Lookup ROUTES`. `run-lookup` calls it and prints the medians.
@preconcurrency import Glibc

guard let count = CommandLine.arguments.dropFirst().first.flatMap({ Int($0) }),
  (100...1_000_000).contains(count), count.isMultiple(of: 4)
else {
  fputs("usage: Lookup ROUTES, from 100 to 1000000 and a multiple of 4\n", stderr)
  exit(64)
}
try Round(count: count).run()
