// Prints what the entry points of web/bridge export, as JSON: names, declarations, comments, members.
//
// NODE_PATH=/usr/share/nodejs node javascript.cjs FOLDER ENTRY…
"use strict";
const path = require("node:path");
const ts = require("typescript");

const [folder, ...entries] = process.argv.slice(2);
const configuration = ts.readConfigFile(path.join(folder, "../tsconfig.json"), ts.sys.readFile).config;
const { options } = ts.convertCompilerOptionsFromJson(configuration.compilerOptions, path.join(folder, ".."));
const program = ts.createProgram(entries.map((name) => path.join(folder, `${name}.js`)), options);
const checker = program.getTypeChecker();
const FORMAT = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope | ts.TypeFormatFlags.OmitParameterModifiers;

/** A type as text, without the paths of the modules that it comes from. */
const clean = (text) => text.replace(/import\("[^"]*"\)\./g, "");

/** A comment, where links and code stay as they are written. */
const comment = (parts) => ts.displayPartsToString(parts ?? []).trim();

/** The symbol itself, where this one only names it. */
const origin = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol);

const isHidden = (symbol) =>
  symbol.name.startsWith("#") || symbol.name.startsWith("__") || symbol.name === "prototype" ||
  (symbol.declarations ?? []).some((each) => ts.getCombinedModifierFlags(each) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) ||
  symbol.getJsDocTags(checker).some((tag) => tag.name === "internal" || tag.name === "private");

const fileOf = (symbol) => path.basename(symbol.declarations?.[0]?.getSourceFile().fileName ?? "", ".js");

/** What a declaration says: texts of the tags `param` and `returns`, by name. */
function tags(symbol) {
  const parameters = [];
  let returns = "";
  for (const tag of symbol.getJsDocTags(checker)) {
    const text = comment(tag.text);
    if (tag.name === "param") {
      const [, name, about] = /^(\S+)\s*-?\s*([^]*)$/.exec(text) ?? [, text, ""];
      if (about) parameters.push({ name, about });
    }
    if (tag.name === "returns" && text) returns = text;
  }
  return { parameters, returns };
}

/** A comment; that of a typedef stands behind its tag. */
function about(symbol) {
  const own = comment(symbol.getDocumentationComment(checker));
  if (own) return own;
  const declaration = symbol.declarations?.[0];
  if (declaration && ts.isJSDocTypedefTag(declaration)) {
    const text = declaration.comment;
    return (typeof text === "string" ? text : ts.getTextOfJSDocComment(text) ?? "").trim();
  }
  return "";
}

function members(type, place, isStatic = false) {
  return checker.getPropertiesOfType(type).filter((each) => !isHidden(each)).flatMap((symbol) => {
    // What the platform's own classes have is no part of this reference.
    if ((symbol.declarations ?? []).every((each) => program.isSourceFileDefaultLibrary(each.getSourceFile()))) return [];
    const its = checker.getTypeOfSymbolAtLocation(symbol, place);
    const signatures = symbol.flags & (ts.SymbolFlags.Method | ts.SymbolFlags.Function) ? its.getCallSignatures() : [];
    const optional = symbol.flags & ts.SymbolFlags.Optional ? "?" : "";
    const prefix = isStatic ? "static " : "";
    const declarations = signatures.length
      ? signatures.map((each) => `${prefix}${symbol.name}${clean(checker.signatureToString(each, place, FORMAT))}`)
      : [`${prefix}${symbol.name}${optional}: ${clean(checker.typeToString(its, place, FORMAT))}`];
    return [{ name: symbol.name, isStatic, isMethod: signatures.length > 0, declarations, about: about(symbol), from: fileOf(symbol), ...tags(symbol) }];
  });
}

function described(symbol) {
  const declaration = symbol.declarations?.[0];
  const common = { name: symbol.name, about: about(symbol), file: fileOf(symbol), ...tags(symbol) };
  if (symbol.flags & ts.SymbolFlags.Class) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const made = checker.getTypeOfSymbolAtLocation(symbol, declaration);
    const parent = checker.getBaseTypes(type).map((each) => each.symbol?.name).filter(Boolean);
    const constructors = made.getConstructSignatures().map((each) => `new ${symbol.name}${clean(checker.signatureToString(each, declaration, FORMAT)).replace(/\): .*$/, ")")}`);
    return { ...common, kind: "class", parent: parent[0] ?? null, declarations: constructors, members: [...members(type, declaration), ...members(made, declaration, true)] };
  }
  if (symbol.flags & ts.SymbolFlags.Function) {
    const signatures = checker.getTypeOfSymbolAtLocation(symbol, declaration).getCallSignatures();
    return { ...common, kind: "function", declarations: signatures.map((each) => symbol.name + clean(checker.signatureToString(each, declaration, FORMAT))), members: [] };
  }
  if (symbol.flags & (ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Interface)) {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const text = clean(checker.typeToString(type, declaration, FORMAT | ts.TypeFormatFlags.InTypeAlias));
    const own = type.getCallSignatures().length || type.isUnion() || !(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) ? [] : members(type, declaration);
    return { ...common, kind: "type", declarations: [`type ${symbol.name} = ${text}`], members: own };
  }
  const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
  const own = members(type, declaration);
  const text = own.length ? `const ${symbol.name}` : `const ${symbol.name}: ${clean(checker.typeToString(type, declaration, FORMAT))}`;
  return { ...common, kind: "value", declarations: [text], members: own };
}

const found = entries.map((name) => {
  const source = program.getSourceFile(path.join(folder, `${name}.js`));
  const module = checker.getSymbolAtLocation(source);
  const exported = checker.getExportsOfModule(module).map((symbol) => {
    const target = origin(symbol);
    // A typedef that only names one of types/api.js is that one.
    const aliased = target.flags & ts.SymbolFlags.TypeAlias ? checker.getDeclaredTypeOfSymbol(target).aliasSymbol ?? target : target;
    return { ...described(aliased.name === target.name ? aliased : target), name: symbol.name };
  });
  return { name, exports: exported };
});
process.stdout.write(JSON.stringify(found));
