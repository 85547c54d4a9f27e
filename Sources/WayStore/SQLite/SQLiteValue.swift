/// What a column holds, and what a statement's parameter is given (https://sqlite.org/datatype3.html).
enum SQLiteValue: Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}
