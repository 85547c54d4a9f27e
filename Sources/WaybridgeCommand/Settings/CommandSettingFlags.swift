import ArgumentParser

/// A flag for a setting, with the string that follows it; nil if it was not given.
struct CommandSettingFlag {
  let key: String
  let text: String?
}

/// The flags of a group of settings.
///
/// The argument parser finds the flags of a type by reflection, and decodes their values by the names
/// of properties. Here each setting of the group is such a property.
struct CommandSettingFlags<Group: CommandSettingGroup>: ParsableArguments, CustomReflectable {
  /// The flags, once they are parsed.
  private(set) var all: [CommandSettingFlag] = []

  init() {}

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: FlagName.self)
    all = try Group.settings.map { setting in
      CommandSettingFlag(key: setting.key, text: try Self.text(of: setting, in: values))
    }
  }

  var customMirror: Mirror {
    Mirror(self, children: Group.settings.map { (FlagName(of: $0).stringValue, $0.wrapper) })
  }

  /// The string that follows the flag of a setting.
  subscript(key: String) -> String? { all.first { $0.key == key }?.text }

  /// Several values are joined by commas, as in a variable.
  private static func text(
    of setting: CommandSetting, in values: KeyedDecodingContainer<FlagName>
  ) throws -> String? {
    let name = FlagName(of: setting)
    switch setting.kind {
    case .boolean:
      return try values.decode(Flag<Bool>.self, forKey: name).wrappedValue ? "true" : nil
    case .strings:
      let texts = try values.decode(Option<[String]>.self, forKey: name).wrappedValue
      return texts.isEmpty ? nil : texts.joined(separator: ",")
    default:
      return try values.decode(Option<String?>.self, forKey: name).wrappedValue
    }
  }
}

/// The name of the property for a flag, such as `logLevel` for `--log-level`.
private struct FlagName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(of setting: CommandSetting) {
    let parts = setting.key.split(separator: ".")
    stringValue = parts.dropFirst().reduce(String(parts.first ?? "")) { name, part in
      name + part.prefix(1).uppercased() + part.dropFirst()
    }
  }

  init(stringValue: String) { self.stringValue = stringValue }

  init?(intValue: Int) { return nil }
}

extension CommandSetting {
  /// The property wrapper that declares the flag to the argument parser.
  fileprivate var wrapper: Any {
    let help = ArgumentHelp(
      "\(help)\(initialText) [\(environmentVariable)]", valueName: valueName)
    return switch kind {
    case .boolean: Flag<Bool>(wrappedValue: false, help: help)
    case .strings:
      Option<[String]>(
        wrappedValue: [], parsing: .upToNextOption, help: help, completion: completion)
    default: Option<String?>(parsing: parsing, help: help, completion: completion)
    }
  }
}
