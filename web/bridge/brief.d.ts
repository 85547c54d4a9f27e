/**
 * Whether error messages only say what is wrong, without advice for developers. `web/minify` sets it for the files that must be small, so
 * that the advice is not in them; in the other minified files it is false. In the modules it is undefined.
 */
declare var __waybridgeBrief: boolean | undefined;
