_jsctl_completion() {
    local response type value

    response=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" _JSCTL_COMPLETE=bash_complete "$1" 2>/dev/null)

    COMPREPLY=()
    while IFS=',' read -r type value; do
        if [[ $type == 'dir' ]]; then
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("$value")
        fi
    done <<< "$response"

    return 0
}

complete -o nosort -F _jsctl_completion jsctl
