function _jsctl_completion
    set -l response (env _JSCTL_COMPLETE=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) jsctl 2>/dev/null)

    for completion in $response
        set -l metadata (string split -m 1 "," -- $completion)

        if test "$metadata[1]" = "dir"
            __fish_complete_directories $metadata[2]
        else if test "$metadata[1]" = "file"
            __fish_complete_path $metadata[2]
        else if test "$metadata[1]" = "plain"
            printf '%s\n' $metadata[2]
        end
    end
end

complete --no-files --command jsctl --arguments "(_jsctl_completion)"
