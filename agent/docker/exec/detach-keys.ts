// How the Engine would leave a terminal by itself.

/**
 * Keys by which an Engine would leave a terminal: it holds back each beginning of them, and has Ctrl-P, Ctrl-Q where none are said. None can be
 * turned off, so these begin with one that hardly anybody types, and are more than anybody does.
 */
export const detachKeys = 'ctrl-^,ctrl-@,ctrl-^,ctrl-@,ctrl-^,ctrl-@,ctrl-^,ctrl-@';
