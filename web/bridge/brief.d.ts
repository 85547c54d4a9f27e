/**
 * Whether texts only say what is wrong, and not what to do about it, which is for who develops: `web/minify` sets it for the files that are to be
 * small, so that no such text is in them. In modules it is undefined.
 */
declare var __waybridgeBrief: true | undefined;
