/// Takes the document of a route table apart.
struct TableReader: DocumentReader {
  var faults: [DocumentFault] = []
}
