_jsctl_completion() {
    local response type value line word breaks= mark head=

    # Readline takes a word apart at some characters, and replaces what follows the last of them.
    line=${COMP_LINE:0:COMP_POINT}
    word=${line##*[[:space:]]}
    for mark in : =; do
        [[ $COMP_WORDBREAKS == *$mark* ]] && breaks+=$mark
    done
    if [[ -n $breaks && $word == *[$breaks]* && $word != \"* && $word != \'* ]]; then
        head=${word%"${word##*[$breaks]}"}
    fi
    word=${word#"$head"}
    [[ $COMP_WORDBREAKS == *@* && $word == *@* ]] && head+=${word%@*}  # and from this one on
    response=$(env COMP_LINE="$line" COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" _JSCTL_COMPLETE=bash_complete "$1" 2>/dev/null)

    COMPREPLY=()
    while IFS=',' read -r type value; do
        if [[ $type == 'dir' ]]; then
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("${value#"$head"}")
        fi
    done <<< "$response"

    return 0
}

complete -o nosort -F _jsctl_completion jsctl
