/// A client of a Waybridge server in pure Dart. The app provides the socket,
/// for example with `package:waybridge/channel.dart`.
library;

export 'src/admin.dart' show Admin;
export 'src/blob_access.dart' show BlobAccess;
export 'src/blob_download.dart' show DownloadOptions;
export 'src/blob_http.dart' show BlobHttp, BlobRequest, BlobResponse;
export 'src/blob_reference.dart' show BlobReference;
export 'src/blob_requests.dart' show BlobRetryOptions;
export 'src/blob_upload.dart' show UploadOptions;
export 'src/blobs.dart' show Blobs;
export 'src/bridge.dart' show Bridge;
export 'src/cancellation.dart' show Cancellation;
export 'src/clock.dart' show Clock, ClockTimer;
export 'src/codes.dart' show AfterClose, CloseCode, ErrorCode;
export 'src/connection.dart' show Close, subprotocol;
export 'src/connection_manager.dart' show StateChange;
export 'src/errors.dart'
    show
        ApplicationException,
        BridgeException,
        CallFailedException,
        CancelledException,
        ConnectionClosedException,
        DeadlineExceededException,
        DeclinedException,
        ForbiddenException,
        HostAbsentException,
        InvalidParametersException,
        OutcomeUnknownException,
        RouteNotFoundException;
export 'src/host_call.dart' show Caller, HostCall, OnceRunner;
export 'src/interceptors.dart'
    show InterceptedCall, Interception, InterceptorHandler;
export 'src/invitation.dart' show Invitation;
export 'src/models.dart'
    show
        BridgeEvent,
        BridgePage,
        Destination,
        Gate,
        LostCall,
        NavigationChange,
        Outcome,
        PageStack,
        PublishReceipt,
        SessionInfo,
        SessionLoss;
export 'src/options.dart'
    show
        BridgeOptions,
        CallOptions,
        Join,
        PageStyle,
        PingOptions,
        ReconnectOptions;
export 'src/page_host.dart'
    show Leave, LeaveGuard, MethodHandler, PageHost, TaskHandler;
export 'src/present_client.dart' show PresentClient;
export 'src/registrations.dart' show Registration;
export 'src/route_calls.dart' show RouteCalls;
export 'src/socket.dart' show BridgeSocket, Connector;
export 'src/stack_edit.dart' show AddedPage, PageRange;
export 'src/states.dart' show BridgeState;
export 'src/topics.dart' show EventHandler;
export 'src/values.dart' show Json;
