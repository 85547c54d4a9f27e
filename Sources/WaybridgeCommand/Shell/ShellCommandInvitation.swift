import Foundation
import WaybridgeClient

/// An address with an invitation in its fragment, as the JavaScript client reads it.
enum ShellCommandInvitation {
  static func invitationURL(_ page: String, url: String, _ join: BridgeClient.JoinCredentials)
    -> String
  {
    let invitation: Value = [
      "url": .string(url), "session": .string(join.session), "token": .string(join.token),
    ]
    let text = Data(invitation.text.utf8).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
    return "\(page)\(page.contains("#") ? "&" : "#")waybridge=\(text)"
  }
}
