/// The value of a column or of a statement's parameter (https://sqlite.org/datatype3.html).
enum SQLiteValue: Hashable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}
