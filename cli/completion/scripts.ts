// The scripts that make a shell ask `troupe __complete`. What a person typed goes to it as arguments, and what comes back goes to the line as it is:
// neither is ever evaluated.

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

// bash cuts words at the characters of COMP_WORDBREAKS: `--output=json` comes as three. They are joined before, and what the line has
// already is cut off after.
const bash = `# Completion of troupe for bash. Load it with:  source <(troupe completion bash)
_troupe() {
	local program=\${COMP_WORDS[0]/#\\~\\//$HOME/} word line head=''
	local -a words=() lines=()
	COMPREPLY=()
	for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
		if [[ \${#words[@]} -gt 0 && ( $word == [=:]* || \${words[-1]} == *[=:] ) ]]; then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	word=\${words[-1]-}
	mapfile -t lines < <("$program" __complete -- "\${words[@]}" 2>/dev/null)
	if [[ \${lines[0]-} == files ]]; then
		compopt -o default 2>/dev/null
		return
	fi
	[[ $word == *[=:]* ]] && head=\${word%"\${word##*[=:]}"}
	for line in "\${lines[@]:1}"; do
		line=\${line%%$'\\t'*}
		COMPREPLY+=("\${line#"$head"}")
	done
	[[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *[=/:.] ]] && compopt -o nospace 2>/dev/null
	return 0
}
complete -F _troupe troupe
`;

const zsh = `#compdef troupe
# Completion of troupe for zsh. Load it with:  source <(troupe completion zsh)
_troupe() {
	local line value
	local -a lines values shown open opened
	lines=("\${(@f)$("\${words[1]/#\\~\\//$HOME/}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ $lines[1] == files ]]; then
		_files
		return
	fi
	for line in "\${(@)lines[2,-1]}"; do
		value=\${line%%$'\\t'*}
		[[ -z $value ]] && continue
		[[ $line == *$'\\t'* ]] && line="$value  -- \${line#*$'\\t'}"
		if [[ $value == *[=/:.] ]]; then
			open+=("$value")
			opened+=("$line")
		else
			values+=("$value")
			shown+=("$line")
		fi
	done
	(( $#values )) && compadd -l -d shown -a values
	(( $#open )) && compadd -l -S '' -d opened -a open
	return 0
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }
if [[ $funcstack[1] == _troupe ]]; then
	_troupe "$@"
else
	compdef _troupe troupe
fi
`;

const fish = `# Completion of troupe for fish. Load it with:  troupe completion fish | source
function __troupe_complete
	set -l words (commandline -opc)
	set -l program (string replace -r '^~/' "$HOME/" -- $words[1])
	set -l current (commandline -ct)
	set -l lines ($program __complete -- $words[2..-1] "$current" 2>/dev/null)
	if test "$lines[1]" = files
		__fish_complete_path "$current"
	else
		for line in $lines[2..-1]
			echo -- $line
		end
	end
end
complete -c troupe -f -a '(__troupe_complete)'
`;

export const scripts: {readonly [Name in Shell]: string} = {bash, zsh, fish};
