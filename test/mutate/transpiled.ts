import ts from 'typescript';

/** As tsc would make it of this file alone: without a look at types. Throws an Error for what is no TypeScript. */
export function transpiled(source: string, file: string): string {
	const compilerOptions = {target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true};
	const {outputText, diagnostics = []} = ts.transpileModule(source, {fileName: file, reportDiagnostics: true, compilerOptions});
	for (const {messageText} of diagnostics) throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
	return outputText;
}
