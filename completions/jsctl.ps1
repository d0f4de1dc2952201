Register-ArgumentCompleter -Native -CommandName jsctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The words before the cursor without their quotation marks, as JSON; a new word is empty.
    $words = @()
    $last = ''
    foreach ($element in $commandAst.CommandElements) {
        $value = if ($element.Value -is [string]) { $element.Value } else { $element.Extent.Text }
        if ($element.Extent.EndOffset -lt $cursorPosition) {
            $words += $value
        } elseif ($element.Extent.StartOffset -lt $cursorPosition) {
            $last = $value
        }
    }
    $words += $last

    $before = $env:_JSCTL_COMPLETE, $env:COMP_WORDS
    try {
        $env:_JSCTL_COMPLETE = 'powershell_complete'
        $env:COMP_WORDS = ConvertTo-Json -Compress -InputObject $words
        $lines = @(& $words[0] 2>$null)
    } finally {
        $env:_JSCTL_COMPLETE, $env:COMP_WORDS = $before
    }

    $files = $false
    $results = @(foreach ($line in $lines) {
        $item = ConvertFrom-Json -InputObject $line
        if ($item.type -eq 'plain') {
            [System.Management.Automation.CompletionResult]::new(
                $item.insert, $item.value, 'ParameterValue', $item.help)
        } else {
            $files = $true
        }
    })
    # Without any result, PowerShell completes files.
    if ($results.Count -or $files) { $results } else { '' }
}
